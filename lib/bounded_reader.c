// SPDX-License-Identifier: GPL-2.0-only
#include "lib/bounded_reader.h"

#include <endian.h>
#include <string.h>

void bounded_reader_init(struct bounded_reader *reader, const void *data, size_t bytes)
{
	/* C defines no arithmetic with NULL, not even the addition of 0. */
	reader->position = data != NULL ? data : "";
	reader->end = reader->position + bytes;
	reader->failed = false;
}

size_t bounded_reader_left(const struct bounded_reader *reader)
{
	return (size_t)(reader->end - reader->position);
}

bool bounded_reader_failed(const struct bounded_reader *reader)
{
	return reader->failed;
}

const void *bounded_reader_bytes(struct bounded_reader *reader, size_t bytes)
{
	const uint8_t *start = reader->position;

	if (reader->failed || bytes > bounded_reader_left(reader)) {
		reader->failed = true;
		return NULL;
	}
	reader->position += bytes;
	return start;
}

uint8_t bounded_reader_u8(struct bounded_reader *reader)
{
	const uint8_t *p = bounded_reader_bytes(reader, 1);

	return p != NULL ? *p : 0;
}

uint32_t bounded_reader_u32(struct bounded_reader *reader)
{
	const void *p = bounded_reader_bytes(reader, sizeof(uint32_t));
	uint32_t value = 0;

	if (p != NULL)
		memcpy(&value, p, sizeof(value));
	return le32toh(value);
}

uint64_t bounded_reader_u64(struct bounded_reader *reader)
{
	const void *p = bounded_reader_bytes(reader, sizeof(uint64_t));
	uint64_t value = 0;

	if (p != NULL)
		memcpy(&value, p, sizeof(value));
	return le64toh(value);
}

uint64_t bounded_reader_varint(struct bounded_reader *reader)
{
	uint64_t value = 0;
	unsigned int shift;
	uint8_t byte;

	for (shift = 0; shift < 64; shift += 7) {
		byte = bounded_reader_u8(reader);
		if (reader->failed)
			return 0;
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (byte == 0 && shift > 0)
			break;
		return value;
	}
	reader->failed = true;
	return 0;
}

/* @bits: out: bits of the encoding. The last byte's upper bit is the sign. */
static uint64_t read_leb128(struct bounded_reader *reader, unsigned int *bits, bool *negative)
{
	uint64_t value = 0;
	uint8_t byte;

	*bits = 0;
	do {
		byte = bounded_reader_u8(reader);
		if (*bits < 64) {
			value |= (uint64_t)(byte & 0x7f) << *bits;
			*bits += 7;
		}
	} while ((byte & 0x80) != 0);
	*negative = (byte & 0x40) != 0;
	return value;
}

uint64_t bounded_reader_uleb128(struct bounded_reader *reader)
{
	unsigned int bits;
	bool negative;

	return read_leb128(reader, &bits, &negative);
}

int64_t bounded_reader_sleb128(struct bounded_reader *reader)
{
	unsigned int bits;
	bool negative;
	uint64_t value = read_leb128(reader, &bits, &negative);

	if (negative && bits < 64)
		value |= UINT64_MAX << bits;
	return (int64_t)value;
}

size_t varint_write(uint8_t *out, uint64_t value)
{
	size_t n = 0;

	while (value >= 0x80) {
		out[n++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	out[n++] = (uint8_t)value;
	return n;
}
