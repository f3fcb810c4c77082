// SPDX-License-Identifier: GPL-2.0-only
/* The codecs of samples and symbols: round trips, damage, limits. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "db/profile_blob.h"
#include "db/profile_read.h"
#include "db/symbol_blob.h"

#define KEY 0x1234567U

static uint64_t random_length(uint64_t *state, unsigned int bits_max)
{
	unsigned int bits = (unsigned int)(unit_random(state) % (bits_max + 1));

	return bits == 0 ? 0 : unit_random(state) >> (64 - bits);
}

/* Make a strictly ascending sequence: deltas and counts of all lengths, any alignment. */
static size_t random_samples(uint64_t *state, struct profile_sample *samples, size_t max)
{
	size_t count = unit_random(state) % (max + 1), i;
	unsigned int delta_bits = (unsigned int)(unit_random(state) % 64);
	unsigned int count_bits = (unsigned int)(unit_random(state) % 54);
	unsigned int shift = (unsigned int)(unit_random(state) % 4);
	uint64_t offset = random_length(state, 60) << shift;

	for (i = 0; i < count; i++) {
		samples[i].offset = offset;
		samples[i].count = random_length(state, count_bits) + 1;
		if (__builtin_add_overflow(offset, (random_length(state, delta_bits) + 1) << shift,
					   &offset))
			return i + 1;
	}
	return count;
}

static void assert_same(const struct profile_pairs *pairs, const struct profile_sample *samples,
			size_t count, uint64_t total)
{
	size_t i;

	assert_int_equal(pairs->count, count);
	assert_int_equal(pairs->total, total);
	for (i = 0; i < count; i++) {
		assert_int_equal(pairs->samples[i].offset, samples[i].offset);
		assert_int_equal(pairs->samples[i].count, samples[i].count);
	}
}

static void test_round_trip(void **state)
{
	static struct profile_sample samples[1000];
	struct profile_pairs pairs = {0};
	struct profile_blob blob = {0};
	uint64_t seed = 1, total, sum;
	size_t count, i;
	int round;

	(void)state;
	for (round = 0; round < 3000; round++) {
		count = random_samples(&seed, samples, round % 10 == 0 ? 1000 : 200);
		for (sum = 0, i = 0; i < count; i++)
			sum += samples[i].count;
		assert_int_equal(profile_blob_encode(&blob, KEY, samples, count, &total), 0);
		assert_int_equal(total, sum);
		assert_int_equal(profile_blob_decode(&pairs, KEY, blob.data, blob.bytes), 0);
		assert_same(&pairs, samples, count, sum);
	}
	profile_pairs_deinit(&pairs);
	profile_blob_deinit(&blob);
}

static bool in_ranges(const struct profile_ranges *ranges, uint64_t offset)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (offset >= ranges->list[i].start && offset < ranges->list[i].end)
			return true;
	return false;
}

/* Make up to @max ranges; some are adjacent or empty, some end at offsets of samples. */
static void random_ranges(uint64_t *state, struct profile_ranges *ranges, size_t max,
			  const struct profile_sample *samples, size_t count)
{
	uint64_t before = 0;
	size_t at = 0;

	ranges->count = 0;
	while (ranges->count < max && count > 0) {
		struct profile_range *range = &ranges->list[ranges->count];

		at += unit_random(state) % (count / max + 2);
		if (at >= count)
			break;
		range->start = samples[at].offset + unit_random(state) % 2;
		at += unit_random(state) % 3 == 0 ? unit_random(state) % 150 : 0;
		if (at >= count)
			at = count - 1;
		range->end = samples[at].offset + unit_random(state) % 2;
		if (range->end < range->start || range->start < before)
			continue;
		before = range->end;
		ranges->count++;
	}
}

static void test_some_ranges(void **state)
{
	static struct profile_sample samples[1000], wanted[1000];
	struct profile_range list[12];
	struct profile_ranges ranges = {.list = list};
	struct profile_pairs pairs = {0};
	struct profile_blob blob = {0};
	uint64_t seed = 3, total, offsets;
	size_t kept = 0;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		size_t count = random_samples(&seed, samples, round % 10 == 0 ? 1000 : 200);
		size_t n = 0;

		assert_int_equal(profile_blob_encode(&blob, KEY, samples, count, &total), 0);
		random_ranges(&seed, &ranges, unit_random(&seed) % 12, samples, count);
		for (size_t i = 0; i < count; i++)
			if (in_ranges(&ranges, samples[i].offset))
				wanted[n++] = samples[i];
		assert_int_equal(profile_blob_decode_in(&pairs, KEY, &ranges, blob.data, blob.bytes,
							&offsets),
				 0);
		assert_same(&pairs, wanted, n, total);
		assert_int_equal(offsets, count);
		kept += n;
	}
	assert_true(kept > 10000);
	profile_pairs_deinit(&pairs);
	profile_blob_deinit(&blob);
}

static void test_extremes(void **state)
{
	static const struct profile_sample ends[] = {{0, 1}, {UINT64_MAX, INT64_MAX - 1}};
	static const struct profile_sample top[] = {{1ULL << 63, 1}};
	static const struct profile_sample last[] = {{UINT64_MAX - 1, 2}, {UINT64_MAX, 3}};
	struct profile_pairs pairs = {0};
	struct profile_blob blob = {0};
	uint64_t total;

	(void)state;
	assert_int_equal(profile_blob_encode(&blob, KEY, ends, 2, &total), 0);
	assert_int_equal(profile_blob_decode(&pairs, KEY, blob.data, blob.bytes), 0);
	assert_same(&pairs, ends, 2, INT64_MAX);
	assert_int_equal(profile_blob_encode(&blob, KEY, top, 1, &total), 0);
	assert_int_equal(profile_blob_decode(&pairs, KEY, blob.data, blob.bytes), 0);
	assert_same(&pairs, top, 1, 1);
	assert_int_equal(profile_blob_encode(&blob, KEY, last, 2, &total), 0);
	assert_int_equal(profile_blob_decode(&pairs, KEY, blob.data, blob.bytes), 0);
	assert_same(&pairs, last, 2, 5);
	assert_int_equal(profile_blob_encode(&blob, KEY, NULL, 0, &total), 0);
	assert_int_equal(profile_blob_decode(&pairs, KEY, blob.data, blob.bytes), 0);
	assert_int_equal(pairs.count, 0);
	profile_pairs_deinit(&pairs);
	profile_blob_deinit(&blob);
}

static void test_bad_samples(void **state)
{
	static const struct profile_sample twice[] = {{5, 1}, {5, 1}};
	static const struct profile_sample back[] = {{5, 1}, {4, 1}};
	static const struct profile_sample zero[] = {{5, 0}};
	static const struct profile_sample many[] = {{1, INT64_MAX}, {2, 1}};
	static const struct profile_sample wrap[] = {{1, UINT64_MAX}, {2, 2}};
	struct profile_blob blob = {0};
	uint64_t total;

	(void)state;
	assert_int_equal(profile_blob_encode(&blob, KEY, twice, 2, &total), -EINVAL);
	assert_int_equal(profile_blob_encode(&blob, KEY, back, 2, &total), -EINVAL);
	assert_int_equal(profile_blob_encode(&blob, KEY, zero, 1, &total), -EINVAL);
	assert_int_equal(profile_blob_encode(&blob, KEY, many, 2, &total), -EOVERFLOW);
	assert_int_equal(profile_blob_encode(&blob, KEY, wrap, 2, &total), -EOVERFLOW);
	profile_blob_deinit(&blob);
}

/* Decode from memory of exactly that size, so that ASan detects a read past the end. */
static int decode_exact(struct profile_pairs *pairs, uint32_t key, const uint8_t *data,
			size_t bytes)
{
	uint8_t *copy = malloc(bytes > 0 ? bytes : 1);
	int r;

	assert_non_null(copy);
	memcpy(copy, data, bytes);
	r = profile_blob_decode(pairs, key, copy, bytes);
	free(copy);
	return r;
}

static void test_damage(void **state)
{
	static struct profile_sample samples[300];
	struct profile_pairs pairs = {0};
	struct profile_blob blob = {0};
	uint64_t seed = 2, total;
	size_t count, i;
	int bit;

	(void)state;
	do
		count = random_samples(&seed, samples, 300);
	while (count < 100);
	assert_int_equal(profile_blob_encode(&blob, KEY, samples, count, &total), 0);
	for (i = 0; i < blob.bytes; i++) {
		assert_int_equal(decode_exact(&pairs, KEY, blob.data, i), -EBADMSG);
		for (bit = 0; bit < 8; bit++) {
			blob.data[i] ^= (uint8_t)(1 << bit);
			assert_int_equal(decode_exact(&pairs, KEY, blob.data, blob.bytes),
					 -EBADMSG);
			blob.data[i] ^= (uint8_t)(1 << bit);
		}
	}
	assert_int_equal(decode_exact(&pairs, KEY + 1, blob.data, blob.bytes), -EBADMSG);
	assert_int_equal(decode_exact(&pairs, KEY, blob.data, blob.bytes), 0);
	profile_pairs_deinit(&pairs);
	profile_blob_deinit(&blob);
}

static void seal(uint8_t *data, size_t bytes, uint32_t key)
{
	uint32_t crc = (uint32_t)crc32(key, data, (uInt)(bytes - 4));
	size_t i;

	for (i = 0; i < 4; i++)
		data[bytes - 4 + i] = (uint8_t)(crc >> 8 * i);
}

/*
 * For damage that the checksum does not detect, the decoder may accept the input or not. Accepted
 * input is a valid profile, and encodes and decodes to itself.
 */
static void test_forgeries(void **state)
{
	static struct profile_sample samples[200];
	struct profile_pairs pairs = {0}, again = {0};
	struct profile_blob blob = {0}, copy = {0};
	uint64_t seed = 3, total;
	size_t count, accepted = 0, refused = 0;
	int round;

	(void)state;
	for (round = 0; round < 20000; round++) {
		count = random_samples(&seed, samples, 200);
		assert_int_equal(profile_blob_encode(&blob, KEY, samples, count, &total), 0);
		blob.data[unit_random(&seed) % blob.bytes] ^=
			(uint8_t)(1 << unit_random(&seed) % 8);
		if (round % 3 == 0)
			blob.bytes -= unit_random(&seed) % (blob.bytes - 4);
		seal(blob.data, blob.bytes, KEY);
		if (decode_exact(&pairs, KEY, blob.data, blob.bytes) < 0) {
			refused++;
			continue;
		}
		accepted++;
		assert_int_equal(
			profile_blob_encode(&copy, KEY, pairs.samples, pairs.count, &total), 0);
		assert_int_equal(total, pairs.total);
		assert_int_equal(profile_blob_decode(&again, KEY, copy.data, copy.bytes), 0);
		assert_same(&again, pairs.samples, pairs.count, pairs.total);
	}
	assert_true(accepted > 0 && refused > 0);
	profile_pairs_deinit(&pairs);
	profile_pairs_deinit(&again);
	profile_blob_deinit(&blob);
	profile_blob_deinit(&copy);
}

static void test_newer_version(void **state)
{
	struct profile_pairs pairs = {0};
	uint8_t data[] = {PROFILE_BLOB_VERSION + 1, 1, 2, 3, 0, 0, 0, 0};

	(void)state;
	seal(data, sizeof(data), KEY);
	assert_int_equal(decode_exact(&pairs, KEY, data, sizeof(data)), -EPROTO);
	profile_pairs_deinit(&pairs);
}

/* The memory that a few bytes can make the decoder allocate is bounded. */
static void test_refuses_huge_size(void **state)
{
	struct profile_pairs pairs = {0};
	uint8_t data[] = {PROFILE_BLOB_VERSION, 0, 0xff, 0xff, 0xff, 0x7f, 1, 1, 0, 0, 0, 0};

	(void)state;
	seal(data, sizeof(data), KEY);
	assert_int_equal(decode_exact(&pairs, KEY, data, sizeof(data)), -EBADMSG);
	assert_int_equal(pairs.capacity, 0);
	profile_pairs_deinit(&pairs);
}

static void test_merge(void **state)
{
	struct profile_sample a[] = {{1, 1}, {3, 2}, {9, 4}};
	static const struct profile_sample b[] = {{0, 8}, {3, 16}, {10, 32}};
	static const struct profile_sample expected[] = {{0, 8}, {1, 1}, {3, 18}, {9, 4}, {10, 32}};
	static const struct profile_sample huge[] = {{3, UINT64_MAX}};
	struct profile_pairs left = {.samples = a, .count = 3, .total = 7};
	struct profile_pairs sum = {0};

	(void)state;
	assert_int_equal(profile_pairs_merge(&sum, &left, b, 3), 0);
	assert_same(&sum, expected, 5, 63);
	assert_int_equal(profile_pairs_merge(&sum, &left, huge, 1), -EOVERFLOW);
	profile_pairs_deinit(&sum);
}

#define SYMBOLS 2000

static void make_symbols(struct profile_symbol *symbols, char (*names)[64], size_t count)
{
	uint64_t seed = 4, offset = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "%s_%llx",
			 unit_random(&seed) % 2 ? "kmem_cache" : "tcp_v4",
			 (unsigned long long)(unit_random(&seed) % 10000));
		if (i % 100 == 0)
			names[i][0] = '\0';
		offset += unit_random(&seed) % 3 * 64;
		symbols[i].offset = offset;
		symbols[i].bytes = unit_random(&seed) % 1000;
		symbols[i].name = names[i];
	}
}

static void assert_symbols(const struct profile_symbols *read, const struct profile_symbol *symbols,
			   size_t count)
{
	size_t i;

	assert_int_equal(read->count, count);
	for (i = 0; i < count; i++) {
		assert_int_equal(read->symbols[i].offset, symbols[i].offset);
		assert_int_equal(read->symbols[i].bytes, symbols[i].bytes);
		assert_string_equal(read->symbols[i].name, symbols[i].name);
	}
}

static void test_symbols_round_trip(void **state)
{
	static struct profile_symbol symbols[SYMBOLS];
	static char names[SYMBOLS][64];
	struct profile_symbols read = {0};
	struct profile_blob blob = {0};
	size_t count;

	(void)state;
	make_symbols(symbols, names, SYMBOLS);
	for (count = 0; count <= SYMBOLS; count = count * 3 + 1) {
		assert_int_equal(symbol_blob_encode(&blob, 7, symbols, count), 0);
		assert_int_equal(symbol_blob_decode(&read, 7, blob.data, blob.bytes), 0);
		assert_symbols(&read, symbols, count);
		profile_symbols_deinit(&read);
		assert_int_equal(symbol_blob_decode(&read, 8, blob.data, blob.bytes), -EBADMSG);
	}
	symbols[1].offset = symbols[2].offset + 1;
	assert_int_equal(symbol_blob_encode(&blob, 7, symbols, 3), -EINVAL);
	profile_blob_deinit(&blob);
}

static int decode_symbols_exact(const uint8_t *data, size_t bytes)
{
	struct profile_symbols read = {0};
	uint8_t *copy = malloc(bytes > 0 ? bytes : 1);
	int r;

	assert_non_null(copy);
	memcpy(copy, data, bytes);
	r = symbol_blob_decode(&read, 7, copy, bytes);
	free(copy);
	profile_symbols_deinit(&read);
	return r;
}

static void test_symbols_damage(void **state)
{
	static struct profile_symbol symbols[100];
	static char names[100][64];
	struct profile_blob blob = {0};
	size_t i;
	int bit, r;

	(void)state;
	make_symbols(symbols, names, 100);
	assert_int_equal(symbol_blob_encode(&blob, 7, symbols, 100), 0);
	for (i = 0; i < blob.bytes; i++) {
		assert_int_equal(decode_symbols_exact(blob.data, i), -EBADMSG);
		for (bit = 0; bit < 8; bit++) {
			blob.data[i] ^= (uint8_t)(1 << bit);
			assert_int_equal(decode_symbols_exact(blob.data, blob.bytes), -EBADMSG);
			seal(blob.data, blob.bytes, profile_blob_key(0, 7, 0, 0));
			r = decode_symbols_exact(blob.data, blob.bytes);
			assert_true(r == 0 || r == -EBADMSG || r == -EPROTO);
			blob.data[i] ^= (uint8_t)(1 << bit);
			seal(blob.data, blob.bytes, profile_blob_key(0, 7, 0, 0));
		}
	}
	assert_int_equal(decode_symbols_exact(blob.data, blob.bytes), 0);
	profile_blob_deinit(&blob);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_some_ranges),
		cmocka_unit_test(test_extremes),       cmocka_unit_test(test_bad_samples),
		cmocka_unit_test(test_damage),	       cmocka_unit_test(test_forgeries),
		cmocka_unit_test(test_newer_version),  cmocka_unit_test(test_refuses_huge_size),
		cmocka_unit_test(test_merge),	       cmocka_unit_test(test_symbols_round_trip),
		cmocka_unit_test(test_symbols_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
