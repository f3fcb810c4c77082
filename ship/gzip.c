// SPDX-License-Identifier: GPL-2.0-only
#include "ship/gzip.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define WINDOW_BITS 15
#define GZIP_WINDOW_BITS (WINDOW_BITS + 16)
/* zlib clears and moves a hash table of 2^(level + 7) entries for each 32 KiB. */
#define MEMORY_LEVEL 5
/* Symbols and codes of RFC 1951, section 3.2.6. */
#define BLOCK_STORED 0
#define BLOCK_FIXED 1
#define BLOCK_TYPE_BITS 3
#define SYMBOL_END 256
#define SYMBOL_LENGTH_3 257
#define SYMBOL_LENGTH_258 285
#define LENGTH_MIN 3
#define LENGTH_MAX 258
/* Longer repetitions are summed up without reading them. */
#define CRC_BYTES_MAX 4096

void *gzip_compress(const void *data, size_t *bytes)
{
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)*bytes};
	void *result = NULL;
	uLong bound;

	if (*bytes > UINT32_MAX / 2 ||
	    deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	bound = deflateBound(&stream, (uLong)*bytes);
	result = malloc(bound);
	stream.next_out = result;
	stream.avail_out = (uInt)bound;
	if (result != NULL && deflate(&stream, Z_FINISH) != Z_STREAM_END) {
		free(result);
		result = NULL;
	}
	if (result != NULL)
		*bytes = stream.total_out;
	deflateEnd(&stream);
	return result;
}

static void put_bits(struct gzip_writer *writer, uint64_t value, unsigned int count)
{
	writer->bits |= value << writer->bit_count;
	writer->bit_count += count;
	for (; writer->bit_count >= 8; writer->bit_count -= 8, writer->bits >>= 8)
		row_buffer_number(&writer->to, writer->bits & 0xff, 1);
}

/* Codes begin with their most significant bit. */
static void put_code(struct gzip_writer *writer, unsigned int code, unsigned int bits)
{
	unsigned int reversed = 0;

	for (unsigned int i = 0; i < bits; i++)
		reversed |= (code >> i & 1) << (bits - 1 - i);
	put_bits(writer, reversed, bits);
}

/* Put a literal or a length, by the fixed codes. */
static void put_symbol(struct gzip_writer *writer, unsigned int symbol)
{
	if (symbol < 144)
		put_code(writer, 0x30 + symbol, 8);
	else if (symbol < 256)
		put_code(writer, 0x190 + symbol - 144, 9);
	else if (symbol < 280)
		put_code(writer, symbol - 256, 7);
	else
		put_code(writer, 0xc0 + symbol - 280, 8);
}

static unsigned int log2_floor(unsigned int number)
{
	return 31 - (unsigned int)__builtin_clz(number);
}

static void put_length(struct gzip_writer *writer, unsigned int length)
{
	unsigned int rest = length - LENGTH_MIN, extra = rest < 8 ? 0 : log2_floor(rest) - 2;

	if (length == LENGTH_MAX) {
		put_symbol(writer, SYMBOL_LENGTH_258);
		return;
	}
	put_symbol(writer, SYMBOL_LENGTH_3 + 4 * extra + (rest >> extra));
	put_bits(writer, rest & ((1U << extra) - 1), extra);
}

static void put_distance(struct gzip_writer *writer, unsigned int distance)
{
	unsigned int rest = distance - 1, extra = rest < 4 ? 0 : log2_floor(rest) - 1;

	put_code(writer, 2 * extra + (rest >> extra), 5);
	put_bits(writer, rest & ((1U << extra) - 1), extra);
}

void gzip_begin(struct gzip_writer *writer)
{
	static const uint8_t header[] = {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 0xff};

	row_buffer_clear(&writer->to);
	row_buffer_bytes(&writer->to, header, sizeof(header));
	writer->bits = writer->bit_count = 0;
	writer->crc = crc32(0, NULL, 0);
	writer->size = 0;
	put_bits(writer, BLOCK_FIXED << 1, BLOCK_TYPE_BITS);
}

/* zlib restarts a checksum at NULL. */
static void sum_up(struct gzip_writer *writer, const void *data, size_t bytes)
{
	if (bytes > 0)
		writer->crc = crc32_z(writer->crc, data, bytes);
	writer->size += bytes;
}

void gzip_literals(struct gzip_writer *writer, const void *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		put_symbol(writer, ((const uint8_t *)data)[i]);
	sum_up(writer, data, bytes);
}

/* Extend the checksum by a repeated value: that of twice as many values follows from that of half.
 */
static void crc_repeat(struct gzip_writer *writer, const uint8_t *value, size_t bytes,
		       uint64_t count)
{
	uint8_t values[CRC_BYTES_MAX];
	unsigned long crc;
	z_off_t length = (z_off_t)bytes;

	if (count <= CRC_BYTES_MAX / bytes) {
		for (uint64_t i = 0; i < count; i++)
			memcpy(values + i * bytes, value, bytes);
		writer->crc = crc32_z(writer->crc, values, bytes * count);
		return;
	}
	crc = crc32_z(0, value, bytes);
	for (; count > 0; count >>= 1, length *= 2) {
		if ((count & 1) != 0)
			writer->crc = crc32_combine(writer->crc, crc, length);
		crc = crc32_combine(crc, crc, length);
	}
}

void gzip_repeat(struct gzip_writer *writer, const uint8_t *value, size_t bytes, uint64_t count)
{
	uint64_t rest = (count - 1) * bytes;

	if (count == 0)
		return;
	for (size_t i = 0; i < bytes; i++)
		put_symbol(writer, value[i]);
	while (rest > 0) {
		/* A length that leaves less than the shortest one is avoided. */
		uint64_t length = rest <= LENGTH_MAX		   ? rest
				  : rest < LENGTH_MAX + LENGTH_MIN ? LENGTH_MAX - LENGTH_MIN
								   : LENGTH_MAX;

		if (length < LENGTH_MIN) {
			/* Only for short values: a rest is a multiple of their size. */
			for (uint64_t i = 0; i < length; i++)
				put_symbol(writer, value[i % bytes]);
		} else {
			put_length(writer, (unsigned int)length);
			put_distance(writer, (unsigned int)bytes);
		}
		rest -= length;
	}
	crc_repeat(writer, value, bytes, count);
	writer->size += count * bytes;
}

/* Append bytes as the last blocks. Return: 0 or -ENOMEM. */
static int deflate_rest(struct gzip_writer *writer, const void *data, size_t bytes)
{
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)bytes};
	uint8_t *room;
	uLong bound;
	bool ended;

	if (bytes > UINT32_MAX / 2 || deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, -WINDOW_BITS,
						   MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	bound = deflateBound(&stream, (uLong)bytes);
	room = row_buffer_room(&writer->to, bound);
	stream.next_out = room;
	stream.avail_out = (uInt)bound;
	ended = room != NULL && deflate(&stream, Z_FINISH) == Z_STREAM_END;
	if (ended)
		writer->to.bytes -= bound - stream.total_out;
	deflateEnd(&stream);
	return ended ? 0 : -ENOMEM;
}

int gzip_end(struct gzip_writer *writer, const void *data, size_t bytes)
{
	static const uint8_t empty[] = {0, 0, 0xff, 0xff};

	put_symbol(writer, SYMBOL_END);
	/* An empty block ends at the boundary of a byte. */
	put_bits(writer, BLOCK_STORED << 1, BLOCK_TYPE_BITS);
	if (writer->bit_count > 0)
		put_bits(writer, 0, 8 - writer->bit_count);
	row_buffer_bytes(&writer->to, empty, sizeof(empty));
	if (deflate_rest(writer, data, bytes) < 0)
		return -ENOMEM;
	sum_up(writer, data, bytes);
	row_buffer_number(&writer->to, writer->crc, 4);
	row_buffer_number(&writer->to, writer->size & UINT32_MAX, 4);
	return writer->to.failed ? -ENOMEM : 0;
}
