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
#define SYMBOL_FIELDS 4
/* What a byte of deflate output can stand for, at most (zlib's manual). */
#define DEFLATE_RATIO_MAX 1032

static uint32_t image_key(int64_t image)
{
	return profile_blob_key(0, image, 0, 0);
}

static size_t shared_prefix(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] != '\0' && a[n] == b[n])
		n++;
	return n;
}

/* The body before compression. */
static int write_body(struct profile_blob *body, const struct profile_symbol *symbols, size_t count,
		      uint64_t *name_bytes)
{
	const struct profile_symbol before = {.name = ""};
	const struct profile_symbol *previous = &before;
	size_t i, length, shared;

	*name_bytes = 0;
	for (i = 0; i < count; previous = &symbols[i++]) {
		length = strlen(symbols[i].name);
		if (length > SYMBOL_NAME_BYTES_MAX || symbols[i].offset < previous->offset)
			return -EINVAL;
		*name_bytes += length + 1;
		if (*name_bytes > SYMBOL_NAMES_BYTES_MAX)
			return -E2BIG;
		if (array_reserve(&body->data, &body->capacity,
				  body->bytes + (size_t)SYMBOL_FIELDS * VARINT_BYTES_MAX + length,
				  1) < 0)
			return -ENOMEM;
		shared = shared_prefix(previous->name, symbols[i].name);
		body->bytes += varint_write(body->data + body->bytes,
					    symbols[i].offset - previous->offset);
		body->bytes += varint_write(body->data + body->bytes, symbols[i].bytes);
		body->bytes += varint_write(body->data + body->bytes, shared);
		body->bytes += varint_write(body->data + body->bytes, length - shared);
		memcpy(body->data + body->bytes, symbols[i].name + shared, length - shared);
		body->bytes += length - shared;
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
		      body->bytes, 6) != Z_OK)
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

	r = write_body(&body, symbols, count, &name_bytes);
	if (r == 0)
		r = wrap_body(blob, image, &body, count, name_bytes);
	profile_blob_deinit(&body);
	return r;
}

struct header {
	uint64_t symbols;
	uint64_t name_bytes;
	uint64_t body_bytes;
};

/* Sizes are checked against each other before anything is allocated for them. */
static int read_header(struct bounded_reader *reader, struct header *header)
{
	if (bounded_reader_u8(reader) != SYMBOL_BLOB_VERSION)
		return bounded_reader_failed(reader) ? -EBADMSG : -EPROTO;
	header->symbols = bounded_reader_varint(reader);
	header->name_bytes = bounded_reader_varint(reader);
	header->body_bytes = bounded_reader_varint(reader);
	if (bounded_reader_failed(reader) || header->name_bytes > SYMBOL_NAMES_BYTES_MAX ||
	    header->symbols > header->name_bytes ||
	    header->body_bytes / DEFLATE_RATIO_MAX > bounded_reader_left(reader) ||
	    header->symbols > header->body_bytes / SYMBOL_FIELDS)
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

/* One name: what it shares with the one before, and the rest. */
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

static int read_body(struct profile_symbols *ret, struct bounded_reader *reader,
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
	r = symbols.symbols == NULL || symbols.names == NULL
		    ? -ENOMEM
		    : read_body(&symbols, &reader, &header);
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
