/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read untrusted bytes.
 *
 * A reader never looks past its end. The first read that would do so marks the reader as failed.
 * Every later read returns zero, so that a parser may check once, at the end (or wherever it must
 * not act on zeros).
 */
#ifndef DCPI_BOUNDED_READER_H
#define DCPI_BOUNDED_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct bounded_reader - fields are private; the caller owns the bytes. */
struct bounded_reader {
	const uint8_t *position;
	const uint8_t *end;
	bool failed;
};

/** bounded_reader_init() - read @bytes bytes from @data, which may be NULL if @bytes is 0. */
void bounded_reader_init(struct bounded_reader *reader, const void *data, size_t bytes);

/** bounded_reader_left() - return the number of bytes not read yet. */
size_t bounded_reader_left(const struct bounded_reader *reader);

/** bounded_reader_failed() - return true if a read went past the end or was malformed */
bool bounded_reader_failed(const struct bounded_reader *reader);

/** bounded_reader_u8() - read one byte. */
uint8_t bounded_reader_u8(struct bounded_reader *reader);

/** bounded_reader_u32() - read four bytes, little endian. */
uint32_t bounded_reader_u32(struct bounded_reader *reader);

/** bounded_reader_u64() - read eight bytes, little endian. */
uint64_t bounded_reader_u64(struct bounded_reader *reader);

/**
 * bounded_reader_varint() - read an unsigned LEB128 number
 *
 * Numbers over 64 bits and over-long encodings fail the reader: a number has
 * one encoding.
 */
uint64_t bounded_reader_varint(struct bounded_reader *reader);

/**
 * bounded_reader_uleb128() - read an unsigned LEB128 number that may be padded, as compilers do
 *
 * Bits over 64 are dropped.
 */
uint64_t bounded_reader_uleb128(struct bounded_reader *reader);

/** bounded_reader_sleb128() - read a signed LEB128 number that may be padded */
int64_t bounded_reader_sleb128(struct bounded_reader *reader);

/**
 * bounded_reader_bytes() - read the next @bytes bytes
 *
 * Return: a pointer into the data, or NULL (and the reader fails).
 */
const void *bounded_reader_bytes(struct bounded_reader *reader, size_t bytes);

#define VARINT_BYTES_MAX 10

/**
 * varint_write() - encode for bounded_reader_varint()
 * @out: room for VARINT_BYTES_MAX bytes
 *
 * Return: bytes written, 1 .. VARINT_BYTES_MAX.
 */
size_t varint_write(uint8_t *out, uint64_t value);

#endif
