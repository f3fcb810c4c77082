// SPDX-License-Identifier: GPL-2.0-only
#include "db/code_blob.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "lib/array.h"
#include "lib/bounded_reader.h"
#include "lib/cleanup.h"

static uint32_t code_key(int64_t image, uint64_t offset)
{
	return profile_blob_key(0, image, 1, (int64_t)offset);
}

int code_blob_encode(struct profile_blob *blob, int64_t image, const struct profile_code *code)
{
	uLongf packed = compressBound(code->bytes);

	if (code->bytes == 0 || code->bytes > CODE_BYTES_MAX)
		return -EINVAL;
	if (array_reserve(&blob->data, &blob->capacity,
			  1 + 2 * VARINT_BYTES_MAX + packed + PROFILE_BLOB_CRC_BYTES, 1) < 0)
		return -ENOMEM;
	blob->data[0] = CODE_BLOB_VERSION;
	blob->bytes = 1 + varint_write(blob->data + 1, code->machine);
	blob->bytes += varint_write(blob->data + blob->bytes, code->bytes);
	if (compress2(blob->data + blob->bytes, &packed, code->data, code->bytes,
		      Z_DEFAULT_COMPRESSION) != Z_OK)
		return -ENOMEM;
	blob->bytes += packed;
	profile_blob_append_crc(blob, code_key(image, code->offset));
	return 0;
}

int code_blob_decode(struct profile_code *code, int64_t image, uint64_t offset, const void *data,
		     size_t bytes)
{
	_cleanup_free_ uint8_t *unpacked = NULL;
	struct bounded_reader reader;
	uint64_t machine, length;
	uLong source;
	uLongf got;
	int r = profile_blob_open(&reader, code_key(image, offset), data, bytes);

	if (r < 0)
		return r;
	if (bounded_reader_u8(&reader) != CODE_BLOB_VERSION)
		return bounded_reader_failed(&reader) ? -EBADMSG : -EPROTO;
	machine = bounded_reader_varint(&reader);
	length = bounded_reader_varint(&reader);
	if (bounded_reader_failed(&reader) || machine > UINT16_MAX || length == 0 ||
	    length > CODE_BYTES_MAX)
		return -EBADMSG;
	got = length;
	source = bounded_reader_left(&reader);
	unpacked = malloc(length);
	if (unpacked == NULL)
		return -ENOMEM;
	if (uncompress2(unpacked, &got, reader.position, &source) != Z_OK || got != length ||
	    source != bounded_reader_left(&reader))
		return -EBADMSG;
	*code = (struct profile_code){
		.offset = offset,
		.bytes = length,
		.machine = (uint16_t)machine,
		.data = take_ptr(unpacked),
	};
	return 0;
}
