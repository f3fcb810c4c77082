// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/collect/offset_counts.h"
#include "lib/u64_map.h"

/* The distribution of random offsets in one kind of image. */
struct kind {
	const char *name;
	uint64_t mask;
	uint64_t base;
};

static const struct kind kinds[] = {
	{"few", 0x3f, 0},
	{"small image", 0xfffc, 0x1000},
	{"large image", 0x7fffff, 0},
	{"far ends", 0x8000000000000001ULL, 0x10},
	{"anywhere", UINT64_MAX, 0},
	{"one", 0, 0x1234},
};

static uint64_t offset_of(const struct kind *kind, uint64_t *seed)
{
	return (unit_random(seed) & kind->mask) + kind->base;
}

/* Compare with a hash map of the same counts. */
static void expect(const struct offset_counts *counts, struct offset_scratch *scratch,
		   const struct u64_map *model)
{
	const struct profile_sample *samples;
	size_t i;

	assert_int_equal(offset_counts_sort(counts, scratch, &samples), 0);
	assert_int_equal(counts->count, u64_map_count(model));
	for (i = 0; i < counts->count; i++) {
		const uint64_t *want = u64_map_find(model, samples[i].offset);

		assert_true(i == 0 || samples[i - 1].offset < samples[i].offset);
		assert_non_null(want);
		assert_int_equal(samples[i].count, *want);
	}
}

/* Return: false if there was no room. */
static bool add(struct offset_counts *counts, uint64_t offset, uint64_t count, bool may_grow)
{
	if (offset_counts_again(counts, offset, count) ||
	    offset_counts_append(counts, offset, count))
		return true;
	return may_grow && offset_counts_grow(counts) == 0 &&
	       offset_counts_append(counts, offset, count);
}

static void one_follows_model(const struct kind *kind, size_t adds, uint64_t seed)
{
	struct offset_counts counts;
	struct offset_scratch scratch = {.capacity = 0};
	struct u64_map model = {.used = 0};
	size_t i;

	assert_int_equal(offset_counts_init(&counts), 0);
	for (i = 0; i < adds; i++) {
		uint64_t offset = offset_of(kind, &seed), count = 1 + unit_random(&seed) % 1000;

		assert_true(add(&counts, offset, count, true));
		*u64_map_insert(&model, offset) += count;
		if (unit_random(&seed) % (adds / 3 + 1) == 0)
			expect(&counts, &scratch, &model);
	}
	expect(&counts, &scratch, &model);
	/* The table is full before it doubles. */
	assert_true(counts.capacity <= 8 || counts.capacity <= 2 * u64_map_count(&model));
	u64_map_deinit(&model);
	offset_counts_deinit(&counts);
	free(scratch.samples);
}

/* Sizes around each change of the algorithm. */
static void follows_model(void **state)
{
	static const size_t adds[] = {0,  1,  2,    7,	  8,	9,    23,   24,	  25,
				      26, 63, 4095, 4096, 4097, 5000, 9000, 70000};
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (j = 0; j < sizeof(adds) / sizeof(adds[0]); j++)
			one_follows_model(&kinds[i], adds[j], i * 100 + j + 1);
	}
}

/* Without growth, known offsets are still counted and new ones without room are refused. */
static void keeps_its_size_when_told(void **state)
{
	struct offset_counts counts;
	struct offset_scratch scratch = {.capacity = 0};
	const struct profile_sample *samples;
	struct u64_map model = {.used = 0};
	uint64_t seed = 7;
	size_t i, bytes, refused = 0;

	(void)state;
	assert_int_equal(offset_counts_init(&counts), 0);
	for (i = 0; i < 1000; i++) {
		uint64_t offset = offset_of(&kinds[2], &seed);

		assert_true(add(&counts, offset, 1, true));
		*u64_map_insert(&model, offset) += 1;
	}
	bytes = offset_counts_bytes(&counts);
	assert_int_equal(offset_counts_sort(&counts, &scratch, &samples), 0);
	for (i = 0; i < 200000; i++) {
		bool again = unit_random(&seed) % 2 == 0;
		uint64_t offset = again ? samples[unit_random(&seed) % 900].offset
					: offset_of(&kinds[2], &seed);

		if (add(&counts, offset, 3, false)) {
			*u64_map_insert(&model, offset) += 3;
		} else {
			assert_false(again);
			refused++;
		}
	}
	assert_int_equal(offset_counts_bytes(&counts), bytes);
	assert_int_equal(counts.count + 1, counts.capacity);
	assert_true(refused > 50000);
	expect(&counts, &scratch, &model);
	/* It continues when growth is allowed. */
	assert_true(add(&counts, UINT64_MAX, 1, true));
	*u64_map_insert(&model, UINT64_MAX) += 1;
	expect(&counts, &scratch, &model);
	u64_map_deinit(&model);
	offset_counts_deinit(&counts);
	free(scratch.samples);
}

/* An attacker that knows the start of searches can make all of them begin at one place. */
static void is_not_slowed_on_purpose(void **state)
{
	struct offset_counts counts;
	struct offset_scratch scratch = {.capacity = 0};
	struct u64_map model = {.used = 0};
	uint64_t known, inverse = 1, i;

	(void)state;
	assert_int_equal(offset_counts_init(&counts), 0);
	known = counts.multiplier;
	/* Each step doubles the number of correct bits. */
	for (i = 0; i < 6; i++)
		inverse *= 2 - known * inverse;
	assert_int_equal(known * inverse, 1);
	for (i = 0; i < 20000; i++) {
		assert_true(add(&counts, i * inverse, i + 1, true));
		*u64_map_insert(&model, i * inverse) = i + 1;
	}
	assert_int_not_equal(counts.multiplier, known);
	expect(&counts, &scratch, &model);
	u64_map_deinit(&model);
	offset_counts_deinit(&counts);
	free(scratch.samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_model),
		cmocka_unit_test(keeps_its_size_when_told),
		cmocka_unit_test(is_not_slowed_on_purpose),
	};

	return cmocka_run_group_tests_name("offset_counts", tests, NULL, NULL);
}
