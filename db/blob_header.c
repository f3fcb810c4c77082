// SPDX-License-Identifier: GPL-2.0-only
#include "db/blob_header.h"

#include <errno.h>

#include "db/bits.h"
#include "db/profile_blob.h"
#include "lib/array.h"
#include "lib/bounded_reader.h"

#define SHIFT_MAX 63
#define HEADER_BYTES_MAX (2 + 3 * VARINT_BYTES_MAX)

int blob_header_write(struct profile_blob *blob, uint8_t version, const struct blob_header *header)
{
	if (array_reserve(&blob->data, &blob->capacity, HEADER_BYTES_MAX + PROFILE_BLOB_CRC_BYTES,
			  1) < 0)
		return -ENOMEM;
	blob->bytes = 0;
	blob->data[blob->bytes++] = version;
	blob->data[blob->bytes++] = (uint8_t)header->shift;
	blob->bytes += varint_write(blob->data + blob->bytes, header->count);
	blob->bytes += varint_write(blob->data + blob->bytes, header->total);
	if (header->count > 0)
		blob->bytes += varint_write(blob->data + blob->bytes, header->first);
	return 0;
}

int blob_header_read(struct blob_header *header, struct bits_reader *bits, uint8_t version,
		     uint32_t key, const void *data, size_t bytes)
{
	struct bounded_reader reader;
	int r = profile_blob_open(&reader, key, data, bytes);

	if (r < 0)
		return r;
	if (bounded_reader_u8(&reader) != version)
		return bounded_reader_failed(&reader) ? -EBADMSG : -EPROTO;
	header->shift = bounded_reader_u8(&reader);
	header->count = bounded_reader_varint(&reader);
	header->total = bounded_reader_varint(&reader);
	header->first = header->count > 0 ? bounded_reader_varint(&reader) : 0;
	/* Each item except the first takes at least two bits. */
	if (bounded_reader_failed(&reader) || header->shift > SHIFT_MAX ||
	    header->count / 4 > bounded_reader_left(&reader) ||
	    header->first > UINT64_MAX >> header->shift)
		return -EBADMSG;
	*bits = (struct bits_reader){.end = (const uint8_t *)data + bytes - PROFILE_BLOB_CRC_BYTES};
	bits->position = bits->end - bounded_reader_left(&reader);
	return 0;
}
