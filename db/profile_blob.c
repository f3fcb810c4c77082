// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_blob.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "db/bits.h"
#include "db/blob_header.h"
#include "lib/array.h"
#include "lib/bounded_reader.h"

#define BLOCK_BYTES_MAX (PROFILE_BLOB_BLOCK * 2 * BITS_CODE_BYTES_MAX + 2 + BITS_SLACK_BYTES)

void profile_blob_deinit(struct profile_blob *blob)
{
	free(blob->data);
	memset(blob, 0, sizeof(*blob));
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

void profile_blob_append_crc(struct profile_blob *blob, uint32_t key)
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

/* @previous: the offset before the block, or NULL: the first sample has no delta. */
static void put_block(struct bits_writer *result, const struct profile_sample *samples,
		      size_t count, const uint64_t *previous, unsigned int shift)
{
	unsigned int delta_lengths[65] = {0}, count_lengths[65] = {0};
	struct bits_writer writer = *result; /* in registers */
	size_t i, first = previous == NULL ? 1 : 0;
	uint64_t deltas[PROFILE_BLOB_BLOCK], before = previous != NULL ? *previous : 0;
	unsigned int kd, kc;

	for (i = 0; i < count; i++) {
		deltas[i] = ((samples[i].offset - before) >> shift) - 1;
		before = samples[i].offset;
		delta_lengths[bits_length(deltas[i])] += i >= first;
		count_lengths[bits_length(samples[i].count - 1)]++;
	}
	kd = bits_order(delta_lengths, (unsigned int)(count - first));
	kc = bits_order(count_lengths, (unsigned int)count);
	bits_put(&writer, kd | kc << BITS_ORDER_BITS, 2 * BITS_ORDER_BITS);
	if (first > 0)
		bits_put_code(&writer, samples[0].count - 1, kc);
	for (i = first; i < count; i++)
		bits_put_codes(&writer, deltas[i], kd, samples[i].count - 1, kc);
	*result = writer;
}

/* Check the promises of the caller of encode, and determine the sum and the common alignment. */
static int profile_blob_measure(const struct profile_sample *samples, size_t count, uint64_t *total,
				unsigned int *shift)
{
	uint64_t sum = 0, bits = 0, large = 0, before = 0;
	bool invalid = false;
	size_t i;

	for (i = 0; i < count; i++) {
		invalid |= samples[i].count == 0;
		invalid |= samples[i].offset <= before && i > 0;
		before = samples[i].offset;
		/* If neither number had bit 63 set before, an overflow of the sum sets bit 63. */
		sum += samples[i].count;
		large |= sum | samples[i].count;
		bits |= samples[i].offset;
	}
	if (invalid)
		return -EINVAL;
	if (large > PROFILE_BLOB_TOTAL_MAX)
		return -EOVERFLOW;
	*total = sum;
	*shift = bits == 0 ? 0 : (unsigned int)__builtin_ctzll(bits);
	return 0;
}

static int put_blocks(struct profile_blob *blob, const struct profile_sample *samples, size_t count,
		      unsigned int shift)
{
	struct bits_writer writer = {0};
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
	if (count > 0)
		blob->bytes = (size_t)(bits_finish(&writer) - blob->data);
	return 0;
}

int profile_blob_encode(struct profile_blob *blob, uint32_t key,
			const struct profile_sample *samples, size_t count, uint64_t *total)
{
	struct blob_header header = {.count = count};
	int r;

	r = profile_blob_measure(samples, count, total, &header.shift);
	if (r < 0)
		return r;
	header.total = *total;
	header.first = count > 0 ? samples[0].offset >> header.shift : 0;
	r = blob_header_write(blob, PROFILE_BLOB_VERSION, &header);
	if (r == 0)
		r = put_blocks(blob, samples, count, header.shift);
	if (r == 0)
		profile_blob_append_crc(blob, key);
	return r;
}

/*
 * @offset, @total: in: of the samples before the block; out: including the block
 *
 * Failures are accumulated and checked once per block: until then, values are wrong but bounded.
 */
static bool profile_blob_take_block(struct bits_reader *result, struct profile_sample *samples,
				    size_t count, bool first, uint64_t *offset, uint64_t *total)
{
	struct bits_reader reader = *result; /* in registers */
	unsigned int kd = (unsigned int)bits_take(&reader, BITS_ORDER_BITS);
	unsigned int kc = (unsigned int)bits_take(&reader, BITS_ORDER_BITS);
	uint64_t at = *offset, sum = *total, large = 0;
	bool failed = false;
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t value;

		bits_refill(&reader);
		if (!first || i > 0) {
			failed |= __builtin_add_overflow(at, bits_take_code(&reader, kd), &at);
			failed |= __builtin_add_overflow(at, 1, &at);
		}
		value = bits_take_code(&reader, kc);
		samples[i].offset = at;
		samples[i].count = value + 1;
		/* If neither number had bit 63 set before, an overflow of the sum sets bit 63. */
		sum += value + 1;
		large |= value | sum;
	}
	*offset = at;
	*total = sum;
	*result = reader;
	return !failed && !reader.failed && large <= PROFILE_BLOB_TOTAL_MAX;
}

/*
 * Move samples that lie in @ranges to the front. Return: their number. @next: in: the first range
 * that does not end before the samples; out: the first one that does not end before those that
 * follow.
 */
static size_t keep_in(struct profile_sample *samples, size_t count,
		      const struct profile_ranges *ranges, size_t *next)
{
	size_t kept = 0, range = *next;

	if (range < ranges->count && samples[count - 1].offset < ranges->list[range].start)
		return 0;
	for (size_t i = 0; i < count && range < ranges->count; i++) {
		while (range < ranges->count && ranges->list[range].end <= samples[i].offset)
			range++;
		if (range < ranges->count && ranges->list[range].start <= samples[i].offset)
			samples[kept++] = samples[i];
	}
	*next = range;
	return kept;
}

/* @ranges: NULL: all samples. */
static int take_blocks(struct profile_pairs *pairs, struct bits_reader *bits,
		       const struct blob_header *header, const struct profile_ranges *ranges)
{
	uint64_t offset = header->first, total = 0;
	size_t i, block, range = 0;

	pairs->count = 0;
	for (i = 0; i < header->count; i += block) {
		struct profile_sample *samples;

		block = header->count - i < PROFILE_BLOB_BLOCK ? header->count - i
							       : PROFILE_BLOB_BLOCK;
		if (array_reserve(&pairs->samples, &pairs->capacity, pairs->count + block,
				  sizeof(*samples)) < 0)
			return -ENOMEM;
		samples = pairs->samples + pairs->count;
		if (!profile_blob_take_block(bits, samples, block, i == 0, &offset, &total) ||
		    offset > UINT64_MAX >> header->shift)
			return -EBADMSG;
		for (size_t j = 0; header->shift > 0 && j < block; j++)
			samples[j].offset <<= header->shift;
		pairs->count += ranges != NULL ? keep_in(samples, block, ranges, &range) : block;
	}
	if (!bits_at_end(bits) || total != header->total)
		return -EBADMSG;
	pairs->total = total;
	return 0;
}

int profile_blob_decode_in(struct profile_pairs *pairs, uint32_t key,
			   const struct profile_ranges *ranges, const void *data, size_t bytes,
			   uint64_t *offsets)
{
	struct bits_reader bits;
	struct blob_header header;
	int r = blob_header_read(&header, &bits, PROFILE_BLOB_VERSION, key, data, bytes);

	if (r < 0)
		return r;
	if (ranges == NULL && array_reserve(&pairs->samples, &pairs->capacity, header.count,
					    sizeof(*pairs->samples)) < 0)
		return -ENOMEM;
	*offsets = header.count;
	return take_blocks(pairs, &bits, &header, ranges);
}

int profile_blob_decode(struct profile_pairs *pairs, uint32_t key, const void *data, size_t bytes)
{
	uint64_t offsets;

	return profile_blob_decode_in(pairs, key, NULL, data, bytes, &offsets);
}
