// SPDX-License-Identifier: GPL-2.0-only
#include "db/symbol_blob.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "db/profile_read.h"
#include "lib/array.h"
#include "lib/bounded_reader.h"
#include "lib/cleanup.h"

#define HEADER_BYTES_MAX (1 + 3 * VARINT_BYTES_MAX)
#define VERSION_RECORDS 1
/* Minimum size of a symbol in a body: version 1, and the current version. */
#define RECORD_BYTES_MIN 4
#define SYMBOL_BYTES_MIN 3
/* Level 6 takes twice the time of 4 for 3% fewer bytes of a kernel's symbols. */
#define DEFLATE_LEVEL 4
/* Minimum room for the output of deflate. */
#define PACK_BYTES_MIN 4096
/* Maximum number of bytes that one byte of deflate output can represent (zlib's manual). */
#define DEFLATE_RATIO_MAX 1032

static uint32_t image_key(int64_t image)
{
	return profile_blob_key(0, image, 0, 0);
}

/* Bytes of a body's two parts. */
struct sizes {
	uint64_t numbers;
	uint64_t names;
};

struct packer {
	struct profile_blob *blob;
	z_stream z;
};

/* Check the promises of the caller of encode, and determine the sizes of the data to write. */
static int symbol_blob_measure(const struct profile_symbol *symbols, size_t count,
			       struct sizes *sizes)
{
	uint8_t scratch[VARINT_BYTES_MAX];
	uint64_t before = 0;
	size_t i, length;

	memset(sizes, 0, sizeof(*sizes));
	for (i = 0; i < count; before = symbols[i++].offset) {
		length = strlen(symbols[i].name);
		if (length > SYMBOL_NAME_BYTES_MAX || symbols[i].offset < before)
			return -EINVAL;
		sizes->names += length + 1;
		if (sizes->names > SYMBOL_NAMES_BYTES_MAX)
			return -E2BIG;
		sizes->numbers += varint_write(scratch, symbols[i].offset - before) +
				  varint_write(scratch, symbols[i].bytes);
	}
	return 0;
}

/*
 * Append compressed data to the blob. The data is not copied, since a kernel has megabytes of
 * names.
 */
static int pack(struct packer *packer, const void *data, size_t bytes, int flush)
{
	z_stream *z = &packer->z;
	int r;

	z->next_in = (Bytef *)(uintptr_t)data;
	z->avail_in = (uInt)bytes;
	do {
		struct profile_blob *blob = packer->blob;

		if (array_reserve(&blob->data, &blob->capacity, blob->bytes + PACK_BYTES_MIN, 1) <
		    0)
			return -ENOMEM;
		z->next_out = blob->data + blob->bytes;
		z->avail_out = (uInt)(blob->capacity - blob->bytes);
		r = deflate(z, flush);
		blob->bytes = (size_t)(z->next_out - blob->data);
	} while (r == Z_OK && (z->avail_in > 0 || flush == Z_FINISH || z->avail_out == 0));
	return r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR ? 0 : -ENOMEM;
}

/* Write the body, column by column. */
static int pack_body(struct packer *packer, const struct profile_symbol *symbols, size_t count)
{
	uint8_t number[VARINT_BYTES_MAX];
	uint64_t before = 0;
	size_t i;
	int r = 0;

	for (i = 0; i < count && r == 0; before = symbols[i++].offset)
		r = pack(packer, number, varint_write(number, symbols[i].offset - before),
			 Z_NO_FLUSH);
	for (i = 0; i < count && r == 0; i++)
		r = pack(packer, number, varint_write(number, symbols[i].bytes), Z_NO_FLUSH);
	for (i = 0; i < count && r == 0; i++)
		r = pack(packer, symbols[i].name, strlen(symbols[i].name) + 1, Z_NO_FLUSH);
	return r == 0 ? pack(packer, NULL, 0, Z_FINISH) : r;
}

int symbol_blob_encode(struct profile_blob *blob, int64_t image,
		       const struct profile_symbol *symbols, size_t count)
{
	struct packer packer = {.blob = blob};
	struct sizes sizes;
	int r;

	r = symbol_blob_measure(symbols, count, &sizes);
	if (r < 0)
		return r;
	if (array_reserve(&blob->data, &blob->capacity, HEADER_BYTES_MAX, 1) < 0 ||
	    deflateInit(&packer.z, DEFLATE_LEVEL) != Z_OK)
		return -ENOMEM;
	blob->bytes = 0;
	blob->data[blob->bytes++] = SYMBOL_BLOB_VERSION;
	blob->bytes += varint_write(blob->data + blob->bytes, count);
	blob->bytes += varint_write(blob->data + blob->bytes, sizes.names);
	blob->bytes += varint_write(blob->data + blob->bytes, sizes.numbers + sizes.names);
	r = pack_body(&packer, symbols, count);
	deflateEnd(&packer.z);
	if (r == 0 && array_reserve(&blob->data, &blob->capacity,
				    blob->bytes + PROFILE_BLOB_CRC_BYTES, 1) < 0)
		r = -ENOMEM;
	if (r == 0)
		profile_blob_append_crc(blob, image_key(image));
	return r;
}

struct header {
	uint8_t version;
	uint64_t symbols;
	uint64_t name_bytes;
	uint64_t body_bytes;
};

/* Sizes are checked against each other before any memory is allocated. */
static int symbol_blob_read_header(struct bounded_reader *reader, struct header *header)
{
	uint64_t least;

	header->version = bounded_reader_u8(reader);
	least = header->version == VERSION_RECORDS ? RECORD_BYTES_MIN : SYMBOL_BYTES_MIN;
	if (bounded_reader_failed(reader))
		return -EBADMSG;
	if (header->version != VERSION_RECORDS && header->version != SYMBOL_BLOB_VERSION)
		return -EPROTO;
	header->symbols = bounded_reader_varint(reader);
	header->name_bytes = bounded_reader_varint(reader);
	header->body_bytes = bounded_reader_varint(reader);
	if (bounded_reader_failed(reader) || header->name_bytes > SYMBOL_NAMES_BYTES_MAX ||
	    header->symbols > header->name_bytes ||
	    header->body_bytes / DEFLATE_RATIO_MAX > bounded_reader_left(reader) ||
	    header->symbols > header->body_bytes / least)
		return -EBADMSG;
	return 0;
}

static int unpack_body(struct bounded_reader *packed, const struct header *header, uint8_t **ret)
{
	_cleanup_free_ uint8_t *body = malloc(header->body_bytes + 1);
	uLong source = bounded_reader_left(packed);
	uLongf bytes = header->body_bytes + 1;
	int z;

	if (body == NULL)
		return -ENOMEM;
	z = uncompress2(body, &bytes, packed->position, &source);
	if (z == Z_MEM_ERROR)
		return -ENOMEM;
	if (z != Z_OK || bytes != header->body_bytes || source != bounded_reader_left(packed))
		return -EBADMSG;
	*ret = take_ptr(body);
	return 0;
}

/* Version 1: read one name: the length shared with the previous name, and the rest. */
static bool read_name(struct bounded_reader *reader, char *name, size_t room, const char *previous,
		      size_t *length)
{
	uint64_t shared = bounded_reader_varint(reader);
	uint64_t rest = bounded_reader_varint(reader);
	const void *bytes;

	if (shared > *length || rest > SYMBOL_NAME_BYTES_MAX ||
	    shared + rest > SYMBOL_NAME_BYTES_MAX || shared + rest >= room)
		return false;
	bytes = bounded_reader_bytes(reader, rest);
	if (bytes == NULL || memchr(bytes, '\0', rest) != NULL)
		return false;
	memcpy(name, previous, shared);
	memcpy(name + shared, bytes, rest);
	name[shared + rest] = '\0';
	*length = shared + rest;
	return true;
}

static int read_records(struct profile_symbols *ret, struct bounded_reader *reader,
			const struct header *header)
{
	const char *previous = "";
	char *name = ret->names;
	size_t length = 0, room, i;
	uint64_t offset = 0;

	for (i = 0; i < header->symbols; i++) {
		struct profile_symbol *symbol = &ret->symbols[i];

		if (__builtin_add_overflow(offset, bounded_reader_varint(reader), &offset))
			return -EBADMSG;
		symbol->offset = offset;
		symbol->bytes = bounded_reader_varint(reader);
		room = (size_t)(ret->names + header->name_bytes - name);
		if (!read_name(reader, name, room, previous, &length))
			return -EBADMSG;
		symbol->name = name;
		previous = name;
		name += length + 1;
	}
	if (bounded_reader_failed(reader) || bounded_reader_left(reader) != 0 ||
	    name != ret->names + header->name_bytes)
		return -EBADMSG;
	ret->count = header->symbols;
	return 0;
}

static bool read_numbers(struct profile_symbols *ret, struct bounded_reader *reader,
			 const struct header *header)
{
	uint64_t offset = 0;
	size_t i;

	for (i = 0; i < header->symbols; i++) {
		if (__builtin_add_overflow(offset, bounded_reader_varint(reader), &offset))
			return false;
		ret->symbols[i].offset = offset;
	}
	for (i = 0; i < header->symbols; i++)
		ret->symbols[i].bytes = bounded_reader_varint(reader);
	return !bounded_reader_failed(reader);
}

static int read_columns(struct profile_symbols *ret, struct bounded_reader *reader,
			const struct header *header)
{
	const char *name = ret->names, *end = ret->names + header->name_bytes, *nul;
	const void *names;
	size_t i;

	if (!read_numbers(ret, reader, header) || bounded_reader_left(reader) != header->name_bytes)
		return -EBADMSG;
	names = bounded_reader_bytes(reader, header->name_bytes);
	memcpy(ret->names, names, header->name_bytes);
	for (i = 0; i < header->symbols; i++, name = nul + 1) {
		nul = memchr(name, '\0', (size_t)(end - name));
		if (nul == NULL || nul - name > SYMBOL_NAME_BYTES_MAX)
			return -EBADMSG;
		ret->symbols[i].name = name;
	}
	ret->count = header->symbols;
	return name == end ? 0 : -EBADMSG;
}

int symbol_blob_decode(struct profile_symbols *ret, int64_t image, const void *data, size_t bytes)
{
	struct bounded_reader reader;
	struct profile_symbols symbols = {0};
	_cleanup_free_ uint8_t *body = NULL;
	struct header header;
	int r;

	r = profile_blob_open(&reader, image_key(image), data, bytes);
	if (r < 0)
		return r;
	r = symbol_blob_read_header(&reader, &header);
	if (r == 0)
		r = unpack_body(&reader, &header, &body);
	if (r < 0)
		return r;
	symbols.symbols = calloc(header.symbols + 1, sizeof(*symbols.symbols));
	symbols.names = malloc(header.name_bytes + 1);
	bounded_reader_init(&reader, body, header.body_bytes);
	if (symbols.symbols == NULL || symbols.names == NULL)
		r = -ENOMEM;
	else if (header.version == VERSION_RECORDS)
		r = read_records(&symbols, &reader, &header);
	else
		r = read_columns(&symbols, &reader, &header);
	if (r < 0) {
		profile_symbols_deinit(&symbols);
		return r;
	}
	*ret = symbols;
	return 0;
}

void profile_symbols_deinit(struct profile_symbols *symbols)
{
	free(symbols->symbols);
	free(symbols->names);
	memset(symbols, 0, sizeof(*symbols));
}
