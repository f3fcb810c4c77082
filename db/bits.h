/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams of bits, least significant bit first, and Exp-Golomb codes in them (Teuhola 1978), which
 * all compact blobs are built from.
 *
 * A value costs about twice the length of its excess over 2^k, in bits, plus k. With the order k
 * chosen for a block of values, this is about their entropy.
 *
 * The functions are inline because a blob's decoder spends all of its time here.
 */
#ifndef DCPI_BITS_H
#define DCPI_BITS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The order of a block's codes is stored in this number of bits. */
#define BITS_ORDER_BITS 5
#define BITS_ORDER_MAX 31

/* Maximum size of a code in bytes, for the greatest value and order. */
#define BITS_CODE_BYTES_MAX 20
/* Bytes beyond the last code that must be writable. */
#define BITS_SLACK_BYTES 8

static inline unsigned int bits_length(uint64_t value)
{
	return value == 0 ? 0 : 64 - (unsigned int)__builtin_clzll(value);
}

/* Bits on their way into a blob; at most 7 are buffered between calls. */
struct bits_writer {
	uint8_t *position;
	uint64_t waiting;
	unsigned int bits;
};

/* n <= 56; value has no bits above n; 8 bytes must be writable at position. */
static inline void bits_put(struct bits_writer *writer, uint64_t value, unsigned int n)
{
	uint64_t word;

	writer->waiting |= value << writer->bits;
	writer->bits += n;
	word = htole64(writer->waiting);
	memcpy(writer->position, &word, sizeof(word));
	writer->position += writer->bits >> 3;
	writer->waiting >>= writer->bits & ~7U;
	writer->bits &= 7;
}

static inline void bits_put_wide(struct bits_writer *writer, uint64_t value, unsigned int n)
{
	if (n > 32) {
		bits_put(writer, value & UINT32_MAX, 32);
		value >>= 32;
		n -= 32;
	}
	bits_put(writer, value, n);
}

/* The low 64 bits of a code, and the code's length. */
struct bits_code {
	uint64_t bits;
	unsigned int length;
};

/*
 * Exp-Golomb code of order k: the length of the upper part in unary, then both parts. The value is
 * less than UINT64_MAX.
 */
static inline struct bits_code bits_code(uint64_t value, unsigned int k)
{
	uint64_t upper = (value >> k) + 1;
	uint64_t lower = value & ((1ULL << k) - 1);
	unsigned int n = 63 - (unsigned int)__builtin_clzll(upper);

	/*
	 * n zeros, a one, the upper part without its leading one (which the -1 removes), the lower
	 * part
	 */
	return (struct bits_code){
		.bits = (2 * upper + 1 + ((lower - 1) << n << 1)) << n,
		.length = 2 * n + 1 + k,
	};
}

/* Write a code that does not fit into one bits_put(). */
static __attribute__((noinline, unused)) void bits_put_long_code(struct bits_writer *writer,
								 uint64_t value, unsigned int k)
{
	uint64_t upper = (value >> k) + 1;
	unsigned int n = 63 - (unsigned int)__builtin_clzll(upper);

	bits_put_wide(writer, 1ULL << n, n + 1);
	bits_put_wide(writer, upper - (1ULL << n), n);
	bits_put_wide(writer, value & ((1ULL << k) - 1), k);
}

/* BITS_CODE_BYTES_MAX and BITS_SLACK_BYTES must be writable. */
static inline void bits_put_code(struct bits_writer *writer, uint64_t value, unsigned int k)
{
	struct bits_code code = bits_code(value, k);
	struct bits_writer copy;

	if (__builtin_expect(code.length <= 56, 1)) {
		bits_put(writer, code.bits, code.length);
		return;
	}
	copy = *writer; /* so that the caller's writer can stay in registers */
	bits_put_long_code(&copy, value, k);
	*writer = copy;
}

/* Write two codes, the first one first. */
static inline void bits_put_codes(struct bits_writer *writer, uint64_t value, unsigned int k,
				  uint64_t value2, unsigned int k2)
{
	struct bits_code code = bits_code(value, k), code2 = bits_code(value2, k2);

	if (__builtin_expect(code.length + code2.length <= 56, 1)) {
		bits_put(writer, code.bits | code2.bits << code.length, code.length + code2.length);
		return;
	}
	bits_put_code(writer, value, k);
	bits_put_code(writer, value2, k2);
}

/*
 * Increasing the order by one costs each value below 2^k one bit and saves most other values one.
 * So the best order is the median of the values' lengths.
 */
static inline unsigned int bits_order(const unsigned int *lengths, unsigned int values)
{
	unsigned int below = 0, k;

	for (k = 0; k < BITS_ORDER_MAX; k++) {
		below += lengths[k];
		if (2 * below >= values)
			break;
	}
	return k;
}

/*
 * Reads bits of a blob. "waiting" may hold more than "bits" valid bits; the next bits_refill()
 * reads the excess bits again.
 */
struct bits_reader {
	const uint8_t *position;
	const uint8_t *end;
	uint64_t waiting;
	unsigned int bits;
	bool failed;
};

static inline void bits_refill(struct bits_reader *reader)
{
	uint64_t word;

	if (reader->end - reader->position >= 8) {
		memcpy(&word, reader->position, sizeof(word));
		reader->waiting |= le64toh(word) << reader->bits;
		reader->position += (63 - reader->bits) >> 3;
		reader->bits |= 56;
		return;
	}
	while (reader->bits <= 55 && reader->position < reader->end) {
		reader->waiting |= (uint64_t)*reader->position++ << reader->bits;
		reader->bits += 8;
	}
}

/* n <= 56 */
static inline uint64_t bits_take(struct bits_reader *reader, unsigned int n)
{
	uint64_t value;

	if (reader->bits < n)
		bits_refill(reader);
	if (reader->bits < n) {
		reader->failed = true;
		return 0;
	}
	value = reader->waiting & ((1ULL << n) - 1);
	reader->waiting >>= n;
	reader->bits -= n;
	return value;
}

static inline uint64_t bits_take_wide(struct bits_reader *reader, unsigned int n)
{
	uint64_t low;

	if (n <= 32)
		return bits_take(reader, n);
	low = bits_take(reader, 32);
	return low | bits_take(reader, n - 32) << 32;
}

/* Count the zeros before the next one, and skip them and the one; at most 63 zeros. */
static inline unsigned int bits_take_zeros(struct bits_reader *reader)
{
	unsigned int zeros = 0, run;

	for (;;) {
		bits_refill(reader);
		run = reader->waiting == 0 ? reader->bits
					   : (unsigned int)__builtin_ctzll(reader->waiting);
		if (run < reader->bits)
			break;
		zeros += reader->bits;
		if (reader->bits == 0 || zeros > 63)
			goto fail;
		reader->waiting >>= reader->bits;
		reader->bits = 0;
	}
	/* cppcheck-suppress shiftTooManyBits ; run < bits < 64 */
	reader->waiting >>= run;
	reader->waiting >>= 1;
	reader->bits -= run + 1;
	zeros += run;
	if (zeros <= 63)
		return zeros;
fail:
	reader->failed = true;
	return 0;
}

/* Read a code that is longer than the buffered bits, or in which the stream ends. */
static __attribute__((noinline, unused)) uint64_t bits_take_long_code(struct bits_reader *reader,
								      unsigned int k)
{
	unsigned int n = bits_take_zeros(reader);
	uint64_t upper = (bits_take_wide(reader, n) | 1ULL << n) - 1;
	uint64_t lower = bits_take(reader, k);

	if (k > 0 && upper >> (64 - k) != 0) {
		reader->failed = true;
		return 0;
	}
	return upper << k | lower;
}

/* Callers that called bits_refill() one or two codes ago take the fast path. */
static inline uint64_t bits_take_code(struct bits_reader *reader, unsigned int k)
{
	unsigned int n = (unsigned int)__builtin_ctzll(reader->waiting | 1ULL << 63);
	unsigned int length = 2 * n + 1 + k;
	uint64_t rest, upper;

	if (__builtin_expect(length > reader->bits, 0)) {
		/* Use a copy, so that the caller's reader can stay in registers. */
		struct bits_reader copy = *reader;

		rest = bits_take_long_code(&copy, k);
		*reader = copy;
		return rest;
	}
	rest = reader->waiting >> n >> 1;
	upper = (rest & ((1ULL << n) - 1)) + (1ULL << n) - 1;
	rest = rest >> n & ((1ULL << k) - 1);
	reader->waiting >>= length;
	reader->bits -= length;
	return upper << k | rest;
}

/*
 * Return true if only the zero bits that fill the last byte are left. No bits may be read
 * afterwards.
 */
static inline bool bits_at_end(struct bits_reader *reader)
{
	uint64_t left;

	/* Refilling may have buffered whole bytes that were not used: give them back. */
	reader->position -= reader->bits / 8;
	reader->bits &= 7;
	left = reader->waiting & ((1ULL << reader->bits) - 1);
	return reader->position == reader->end && left == 0;
}

/* Write the last bits, with a padded last byte if necessary. Return: the end of the stream. */
static inline uint8_t *bits_finish(struct bits_writer *writer)
{
	if (writer->bits > 0)
		*writer->position++ = (uint8_t)writer->waiting;
	return writer->position;
}

#endif
