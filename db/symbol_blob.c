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
/* What a symbol takes in a body, at least: version 1, and now. */
#define RECORD_BYTES_MIN 4
#define SYMBOL_BYTES_MIN 3
/* Level 6 takes twice the time of 4 for 3% fewer bytes of a kernel's symbols. */
#define DEFLATE_LEVEL 4
/* What a byte of deflate output can stand for, at most (zlib's manual). */
#define DEFLATE_RATIO_MAX 1032

static uint32_t image_key(int64_t image)
{
	return profile_blob_key(0, image, 0, 0);
}

/* Checks what encode promises. */
static int survey(const struct profile_symbol *symbols, size_t count, uint64_t *name_bytes)
{
	uint64_t sum = 0;
	size_t i, length;

	for (i = 0; i < count; i++) {
		length = strlen(symbols[i].name);
		if (length > SYMBOL_NAME_BYTES_MAX ||
		    (i > 0 && symbols[i].offset < symbols[i - 1].offset))
			return -EINVAL;
		sum += length + 1;
		if (sum > SYMBOL_NAMES_BYTES_MAX)
			return -E2BIG;
	}
	*name_bytes = sum;
	return 0;
}

/* The body before compression. */
static int write_body(struct profile_blob *body, const struct profile_symbol *symbols, size_t count,
		      uint64_t name_bytes)
{
	uint64_t before = 0;
	size_t i, length;

	/* There are no more symbols than bytes of names: nothing overflows. */
	if (array_reserve(&body->data, &body->capacity, count * 2 * VARINT_BYTES_MAX + name_bytes,
			  1) < 0)
		return -ENOMEM;
	for (i = 0; i < count; before = symbols[i++].offset)
		body->bytes += varint_write(body->data + body->bytes, symbols[i].offset - before);
	for (i = 0; i < count; i++)
		body->bytes += varint_write(body->data + body->bytes, symbols[i].bytes);
	for (i = 0; i < count; i++) {
		length = strlen(symbols[i].name) + 1;
		memcpy(body->data + body->bytes, symbols[i].name, length);
		body->bytes += length;
	}
	return 0;
}

/* The finished blob around a body. */
static int wrap_body(struct profile_blob *blob, int64_t image, const struct profile_blob *body,
		     uint64_t count, uint64_t name_bytes)
{
	static const uint8_t nothing;
	uLongf packed = compressBound(body->bytes);

	if (array_reserve(&blob->data, &blob->capacity,
			  HEADER_BYTES_MAX + packed + PROFILE_BLOB_CRC_BYTES, 1) < 0)
		return -ENOMEM;
	blob->bytes = 0;
	blob->data[blob->bytes++] = SYMBOL_BLOB_VERSION;
	blob->bytes += varint_write(blob->data + blob->bytes, count);
	blob->bytes += varint_write(blob->data + blob->bytes, name_bytes);
	blob->bytes += varint_write(blob->data + blob->bytes, body->bytes);
	if (compress2(blob->data + blob->bytes, &packed, body->data != NULL ? body->data : &nothing,
		      body->bytes, DEFLATE_LEVEL) != Z_OK)
		return -ENOMEM;
	blob->bytes += packed;
	profile_blob_seal(blob, image_key(image));
	return 0;
}

int symbol_blob_encode(struct profile_blob *blob, int64_t image,
		       const struct profile_symbol *symbols, size_t count)
{
	struct profile_blob body = {0};
	uint64_t name_bytes;
	int r;

	r = survey(symbols, count, &name_bytes);
	if (r == 0)
		r = write_body(&body, symbols, count, name_bytes);
	if (r == 0)
		r = wrap_body(blob, image, &body, count, name_bytes);
	profile_blob_deinit(&body);
	return r;
}

struct header {
	uint8_t version;
	uint64_t symbols;
	uint64_t name_bytes;
	uint64_t body_bytes;
};

/* Sizes are checked against each other before anything is allocated for them. */
static int read_header(struct bounded_reader *reader, struct header *header)
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

/* Version 1. One name: what it shares with the one before, and the rest. */
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
	r = read_header(&reader, &header);
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
