/* SPDX-License-Identifier: GPL-2.0-only */
/* Compression of the bodies of requests (RFC 1951, RFC 1952). */
#ifndef DCPI_GZIP_H
#define DCPI_GZIP_H

#include <stddef.h>
#include <stdint.h>

#include "ship/row_buffer.h"

/* A shorter body fits into one packet, and is sent as it is. */
#define GZIP_BYTES_MIN 1024
/* The longest value of gzip_repeat(). */
#define GZIP_VALUE_BYTES_MAX 16

/**
 * gzip_compress() - compress bytes
 * @bytes: in: of @data; out: of the result
 *
 * The result is the same for the same bytes, with the same version of zlib.
 *
 * Return: malloc'd; NULL: out of memory, or more than 2 GiB.
 */
void *gzip_compress(const void *data, size_t *bytes);

/**
 * struct gzip_writer - a compressed file that is being written; zero-initialised is empty
 * @to:    the file; freed by the caller
 * @bits, @bit_count: bits that are not a byte yet
 * @crc, @size: of the bytes that are compressed
 *
 * Values that occur many times in a row are coded without a search for matches, which takes most of
 * the time of zlib.
 */
struct gzip_writer {
	struct row_buffer to;
	uint64_t bits;
	unsigned int bit_count;
	unsigned long crc;
	uint64_t size;
};

/** gzip_begin() - begin a file; memory of @to is kept */
void gzip_begin(struct gzip_writer *writer);

/** gzip_literals() - add a few bytes, which are not compressed */
void gzip_literals(struct gzip_writer *writer, const void *data, size_t bytes);

/** gzip_repeat() - add a value @count times; 1 <= @bytes <= GZIP_VALUE_BYTES_MAX, a power of 2 */
void gzip_repeat(struct gzip_writer *writer, const uint8_t *value, size_t bytes, uint64_t count);

/** gzip_end() - add bytes, compressed by zlib, and end the file. Return: 0 or -ENOMEM. */
int gzip_end(struct gzip_writer *writer, const void *data, size_t bytes);

#endif
