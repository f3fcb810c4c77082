// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_blob.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/array.h"
#include "lib/bounded_reader.h"

#define ORDER_BITS 5
#define ORDER_MAX 31
#define SHIFT_MAX 63
/* Two codes of at most 127 + ORDER_MAX bits a pair, the orders, a whole word of slack. */
#define BLOCK_BYTES_MAX (PROFILE_BLOB_BLOCK * 40 + 2 + 8)
#define HEADER_BYTES_MAX (2 + 3 * VARINT_BYTES_MAX)

void profile_blob_deinit(struct profile_blob *blob)
{
	free(blob->data);
	memset(blob, 0, sizeof(*blob));
}

void profile_pairs_deinit(struct profile_pairs *pairs)
{
	free(pairs->samples);
	memset(pairs, 0, sizeof(*pairs));
}

uint32_t profile_blob_key(int64_t epoch, int64_t image, uint32_t event, int64_t pid)
{
	uint64_t words[4] = {
		htole64((uint64_t)epoch),
		htole64((uint64_t)image),
		htole64(event),
		htole64((uint64_t)pid),
	};

	return (uint32_t)crc32(0, (const Bytef *)words, sizeof(words));
}

void profile_blob_seal(struct profile_blob *blob, uint32_t key)
{
	uint32_t crc = htole32((uint32_t)crc32_z(key, blob->data, blob->bytes));

	memcpy(blob->data + blob->bytes, &crc, sizeof(crc));
	blob->bytes += sizeof(crc);
}

int profile_blob_open(struct bounded_reader *reader, uint32_t key, const void *data, size_t bytes)
{
	struct bounded_reader trailer;

	if (bytes < PROFILE_BLOB_CRC_BYTES)
		return -EBADMSG;
	bytes -= PROFILE_BLOB_CRC_BYTES;
	bounded_reader_init(reader, data, bytes);
	bounded_reader_init(&trailer, (const uint8_t *)data + bytes, PROFILE_BLOB_CRC_BYTES);
	return bounded_reader_u32(&trailer) == (uint32_t)crc32_z(key, data, bytes) ? 0 : -EBADMSG;
}

static unsigned int bit_length(uint64_t value)
{
	return value == 0 ? 0 : 64 - (unsigned int)__builtin_clzll(value);
}

/* Bits on their way into a blob; at most 7 wait between calls. */
struct bit_writer {
	uint8_t *position;
	uint64_t waiting;
	unsigned int bits;
};

/* n <= 56; value has no bits above n; 8 bytes must be writable at position. */
static void put_bits(struct bit_writer *writer, uint64_t value, unsigned int n)
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

static void put_wide(struct bit_writer *writer, uint64_t value, unsigned int n)
{
	if (n > 32) {
		put_bits(writer, value & UINT32_MAX, 32);
		value >>= 32;
		n -= 32;
	}
	put_bits(writer, value, n);
}

/* Exp-Golomb of order k: the length of the upper part in unary, then both parts. */
static void put_code(struct bit_writer *writer, uint64_t value, unsigned int k)
{
	uint64_t upper = (value >> k) + 1;
	uint64_t lower = value & ((1ULL << k) - 1);
	unsigned int n = bit_length(upper) - 1;

	/* No value is UINT64_MAX: offsets lie at least 1 apart, counts sum up to INT64_MAX. */
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): so n >= 0 */
	upper -= 1ULL << n;
	if (2 * n + 1 + k <= 56) {
		put_bits(writer, 1ULL << n | upper << (n + 1) | lower << (2 * n + 1),
			 2 * n + 1 + k);
		return;
	}
	put_wide(writer, 1ULL << n, n + 1);
	put_wide(writer, upper, n);
	put_wide(writer, lower, k);
}

/*
 * One order more costs each value below 2^k a bit and saves most others one,
 * so the best order is the median of the values' lengths.
 */
static unsigned int choose_order(const unsigned int *lengths, unsigned int values)
{
	unsigned int below = 0, k;

	for (k = 0; k < ORDER_MAX; k++) {
		below += lengths[k];
		if (2 * below >= values)
			break;
	}
	return k;
}

static void put_block(struct bit_writer *writer, const struct profile_sample *samples, size_t count,
		      const uint64_t *previous, unsigned int shift)
{
	unsigned int delta_lengths[65] = {0}, count_lengths[65] = {0};
	uint64_t deltas[PROFILE_BLOB_BLOCK];
	unsigned int kd, kc;
	size_t i, first = previous == NULL ? 1 : 0;

	for (i = 0; i < count; i++) {
		if (i >= first) {
			deltas[i] = (samples[i].offset -
				     (i == 0 ? *previous : samples[i - 1].offset)) >>
				    shift;
			deltas[i]--;
			delta_lengths[bit_length(deltas[i])]++;
		}
		count_lengths[bit_length(samples[i].count - 1)]++;
	}
	kd = choose_order(delta_lengths, (unsigned int)(count - first));
	kc = choose_order(count_lengths, (unsigned int)count);
	put_bits(writer, kd | kc << ORDER_BITS, 2 * ORDER_BITS);
	for (i = 0; i < count; i++) {
		if (i >= first)
			put_code(writer, deltas[i], kd);
		put_code(writer, samples[i].count - 1, kc);
	}
}

/* Checks what encode promises, and finds the sum and the common alignment. */
static int survey(const struct profile_sample *samples, size_t count, uint64_t *total,
		  unsigned int *shift)
{
	uint64_t sum = 0, bits = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		if (samples[i].count == 0)
			return -EINVAL;
		if (i > 0 && samples[i].offset <= samples[i - 1].offset)
			return -EINVAL;
		if (__builtin_add_overflow(sum, samples[i].count, &sum) ||
		    sum > PROFILE_BLOB_TOTAL_MAX)
			return -EOVERFLOW;
		bits |= samples[i].offset;
	}
	*total = sum;
	*shift = bits == 0 ? 0 : (unsigned int)__builtin_ctzll(bits);
	return 0;
}

static int put_blocks(struct profile_blob *blob, const struct profile_sample *samples, size_t count,
		      unsigned int shift)
{
	struct bit_writer writer = {0};
	size_t i, block;

	for (i = 0; i < count; i += block) {
		block = count - i < PROFILE_BLOB_BLOCK ? count - i : PROFILE_BLOB_BLOCK;
		if (array_reserve(&blob->data, &blob->capacity,
				  blob->bytes + BLOCK_BYTES_MAX + PROFILE_BLOB_CRC_BYTES, 1) < 0)
			return -ENOMEM;
		writer.position = blob->data + blob->bytes;
		put_block(&writer, samples + i, block, i == 0 ? NULL : &samples[i - 1].offset,
			  shift);
		blob->bytes = (size_t)(writer.position - blob->data);
	}
	if (writer.bits > 0)
		blob->data[blob->bytes++] = (uint8_t)writer.waiting;
	return 0;
}

int profile_blob_encode(struct profile_blob *blob, uint32_t key,
			const struct profile_sample *samples, size_t count, uint64_t *total)
{
	unsigned int shift;
	int r;

	r = survey(samples, count, total, &shift);
	if (r < 0)
		return r;
	if (array_reserve(&blob->data, &blob->capacity, HEADER_BYTES_MAX + PROFILE_BLOB_CRC_BYTES,
			  1) < 0)
		return -ENOMEM;
	blob->bytes = 0;
	blob->data[blob->bytes++] = PROFILE_BLOB_VERSION;
	blob->data[blob->bytes++] = (uint8_t)shift;
	blob->bytes += varint_write(blob->data + blob->bytes, count);
	blob->bytes += varint_write(blob->data + blob->bytes, *total);
	if (count > 0)
		blob->bytes += varint_write(blob->data + blob->bytes, samples[0].offset >> shift);
	r = put_blocks(blob, samples, count, shift);
	if (r < 0)
		return r;
	profile_blob_seal(blob, key);
	return 0;
}

/*
 * Bits out of a blob. "waiting" may hold more than "bits" valid bits: those
 * beyond are what the next refill brings again.
 */
struct bit_reader {
	const uint8_t *position;
	const uint8_t *end;
	uint64_t waiting;
	unsigned int bits;
	bool failed;
};

static void refill(struct bit_reader *reader)
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
static uint64_t take_bits(struct bit_reader *reader, unsigned int n)
{
	uint64_t value;

	if (reader->bits < n)
		refill(reader);
	if (reader->bits < n) {
		reader->failed = true;
		return 0;
	}
	value = reader->waiting & ((1ULL << n) - 1);
	reader->waiting >>= n;
	reader->bits -= n;
	return value;
}

static uint64_t take_wide(struct bit_reader *reader, unsigned int n)
{
	uint64_t low;

	if (n <= 32)
		return take_bits(reader, n);
	low = take_bits(reader, 32);
	return low | take_bits(reader, n - 32) << 32;
}

/* How many zeros stand before the next one, which is taken too; at most 63. */
static unsigned int take_zeros(struct bit_reader *reader)
{
	unsigned int zeros = 0, run;

	for (;;) {
		refill(reader);
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

static uint64_t take_code(struct bit_reader *reader, unsigned int k)
{
	unsigned int n = take_zeros(reader);
	uint64_t upper = (take_wide(reader, n) | 1ULL << n) - 1;
	uint64_t lower = take_bits(reader, k);

	if (k > 0 && upper >> (64 - k) != 0) {
		reader->failed = true;
		return 0;
	}
	return upper << k | lower;
}

static bool take_block(struct bit_reader *reader, struct profile_sample *samples, size_t count,
		       bool first, uint64_t offset, uint64_t *total)
{
	unsigned int kd = (unsigned int)take_bits(reader, ORDER_BITS);
	unsigned int kc = (unsigned int)take_bits(reader, ORDER_BITS);
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t delta = first && i == 0 ? 0 : take_code(reader, kd) + 1;
		uint64_t value = take_code(reader, kc);

		if (reader->failed || __builtin_add_overflow(offset, delta, &offset) ||
		    (delta == 0 && !(first && i == 0)) || value >= PROFILE_BLOB_TOTAL_MAX)
			return false;
		samples[i].offset = offset;
		samples[i].count = value + 1;
		*total += value + 1;
		if (*total > PROFILE_BLOB_TOTAL_MAX)
			return false;
	}
	return true;
}

/* The numbers before the bit stream. */
struct header {
	unsigned int shift;
	uint64_t pairs;
	uint64_t total;
	uint64_t first;
};

static int read_header(struct bounded_reader *reader, struct header *header)
{
	if (bounded_reader_u8(reader) != PROFILE_BLOB_VERSION)
		return bounded_reader_failed(reader) ? -EBADMSG : -EPROTO;
	header->shift = bounded_reader_u8(reader);
	header->pairs = bounded_reader_varint(reader);
	header->total = bounded_reader_varint(reader);
	header->first = header->pairs > 0 ? bounded_reader_varint(reader) : 0;
	/* A pair takes at least two bits, but for the first. */
	if (bounded_reader_failed(reader) || header->shift > SHIFT_MAX ||
	    header->pairs / 4 > bounded_reader_left(reader) ||
	    header->first > UINT64_MAX >> header->shift)
		return -EBADMSG;
	return 0;
}

static bool at_end(const struct bit_reader *reader)
{
	uint64_t left = reader->waiting & ((1ULL << reader->bits) - 1);

	return reader->position == reader->end && left == 0;
}

static int take_blocks(struct profile_pairs *pairs, struct bit_reader *bits,
		       const struct header *header)
{
	uint64_t offset = header->first, total = 0;
	size_t i, block;

	for (i = 0; i < header->pairs; i += block) {
		block = header->pairs - i < PROFILE_BLOB_BLOCK ? header->pairs - i
							       : PROFILE_BLOB_BLOCK;
		if (!take_block(bits, pairs->samples + i, block, i == 0, offset, &total))
			return -EBADMSG;
		offset = pairs->samples[i + block - 1].offset;
	}
	/* Refilling may have run ahead of what was used: give whole bytes back. */
	bits->position -= bits->bits / 8;
	bits->bits &= 7;
	if (!at_end(bits) || total != header->total || offset > UINT64_MAX >> header->shift)
		return -EBADMSG;
	for (i = 0; header->shift > 0 && i < header->pairs; i++)
		pairs->samples[i].offset <<= header->shift;
	pairs->count = header->pairs;
	pairs->total = total;
	return 0;
}

int profile_blob_decode(struct profile_pairs *pairs, uint32_t key, const void *data, size_t bytes)
{
	struct bounded_reader reader;
	struct bit_reader bits = {0};
	struct header header;
	int r;

	r = profile_blob_open(&reader, key, data, bytes);
	if (r < 0)
		return r;
	r = read_header(&reader, &header);
	if (r < 0)
		return r;
	if (array_reserve(&pairs->samples, &pairs->capacity, header.pairs,
			  sizeof(*pairs->samples)) < 0)
		return -ENOMEM;
	bits.end = (const uint8_t *)data + bytes - PROFILE_BLOB_CRC_BYTES;
	bits.position = bits.end - bounded_reader_left(&reader);
	return take_blocks(pairs, &bits, &header);
}

int profile_pairs_merge(struct profile_pairs *sum, const struct profile_pairs *a,
			const struct profile_sample *b, size_t b_count)
{
	const struct profile_sample *x = a->samples;
	size_t i = 0, j = 0, n = 0, needed;

	if (__builtin_add_overflow(a->count, b_count, &needed) ||
	    array_reserve(&sum->samples, &sum->capacity, needed, sizeof(*sum->samples)) < 0)
		return -ENOMEM;
	sum->total = 0;
	while (i < a->count || j < b_count) {
		struct profile_sample *out = &sum->samples[n++];

		if (j == b_count || (i < a->count && x[i].offset < b[j].offset)) {
			*out = x[i++];
		} else if (i == a->count || b[j].offset < x[i].offset) {
			*out = b[j++];
		} else {
			*out = b[j++];
			if (__builtin_add_overflow(out->count, x[i++].count, &out->count))
				return -EOVERFLOW;
		}
		if (__builtin_add_overflow(sum->total, out->count, &sum->total))
			return -EOVERFLOW;
	}
	sum->count = n;
	return 0;
}
