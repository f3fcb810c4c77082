// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/collect/offset_counts.h"
#include "lib/u64_map.h"

/* As random offsets are in one kind of image. */
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

/* Compares with a hash map of the same counts. */
static void expect(struct offset_counts *counts, struct offset_scratch *scratch,
		   const struct u64_map *model)
{
	size_t i;

	assert_int_equal(offset_counts_settle(counts, scratch), 0);
	assert_int_equal(counts->count, u64_map_count(model));
	for (i = 0; i < counts->count; i++) {
		const uint64_t *want = u64_map_find(model, counts->samples[i].offset);

		assert_true(i == 0 || counts->samples[i - 1].offset < counts->samples[i].offset);
		assert_non_null(want);
		assert_int_equal(counts->samples[i].count, *want);
	}
}

static void one_follows_model(const struct kind *kind, size_t adds, uint64_t seed)
{
	struct offset_counts counts = {.count = 0};
	struct offset_scratch scratch = {.capacity = 0};
	struct u64_map model = {.used = 0};
	size_t i;

	for (i = 0; i < adds; i++) {
		uint64_t offset = offset_of(kind, &seed), count = 1 + unit_random(&seed) % 1000;

		assert_int_equal(offset_counts_add(&counts, &scratch, offset, count, true), 0);
		*u64_map_insert(&model, offset) += count;
		assert_true(counts.count <= counts.capacity);
		if (unit_random(&seed) % (adds / 3 + 1) == 0)
			expect(&counts, &scratch, &model);
	}
	expect(&counts, &scratch, &model);
	/* What doubling leaves empty, and what was the same before it was sorted. */
	assert_true(counts.capacity <= 512 || counts.capacity <= 8 * u64_map_count(&model));
	u64_map_deinit(&model);
	offset_counts_deinit(&counts);
	free(scratch.samples);
}

/* Around each size at which another way is taken. */
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

/* Nothing that was there is refused, nothing is taken that there is no room for. */
static void keeps_its_size_when_told(void **state)
{
	struct offset_counts counts = {.count = 0};
	struct offset_scratch scratch = {.capacity = 0};
	struct u64_map model = {.used = 0};
	uint64_t seed = 7;
	size_t i, bytes, refused = 0;

	(void)state;
	assert_int_equal(offset_counts_add(&counts, &scratch, 1, 1, false), -ENOMEM);
	for (i = 0; i < 1000; i++) {
		uint64_t offset = offset_of(&kinds[2], &seed);

		assert_int_equal(offset_counts_add(&counts, &scratch, offset, 1, true), 0);
		*u64_map_insert(&model, offset) += 1;
	}
	bytes = offset_counts_bytes(&counts);
	for (i = 0; i < 200000; i++) {
		bool again = unit_random(&seed) % 2 == 0;
		uint64_t offset = again ? counts.samples[unit_random(&seed) % counts.count].offset
					: offset_of(&kinds[2], &seed);
		int rc = offset_counts_add(&counts, &scratch, offset, 3, false);

		assert_true(rc == 0 || !again);
		if (rc == 0)
			*u64_map_insert(&model, offset) += 3;
		refused += rc != 0;
	}
	assert_int_equal(offset_counts_bytes(&counts), bytes);
	assert_true(refused > 50000);
	expect(&counts, &scratch, &model);
	/* And goes on when it may. */
	assert_int_equal(offset_counts_add(&counts, &scratch, UINT64_MAX, 1, true), 0);
	*u64_map_insert(&model, UINT64_MAX) += 1;
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
	};

	return cmocka_run_group_tests_name("offset_counts", tests, NULL, NULL);
}
