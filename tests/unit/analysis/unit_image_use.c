// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image_use.h"
#include "tests/lib/unit.h"

#include <math.h>

/* Two samples in each of 100 lines. */
static struct address_count counts[100];

static struct image_samples samples_make(void)
{
	for (size_t i = 0; i < 100; i++)
		counts[i] = (struct address_count){0x1000 + 64 * i, 2};
	return (struct image_samples){.time = {.counts = counts, .count = 100}, .all = 200};
}

static void test_code_of_the_image(void **state)
{
	struct image_samples samples = samples_make();
	struct image_use use;

	(void)state;
	assert_int_equal(image_use_find(&use, &samples, 64, 4096), 0);
	assert_true(use.code_bytes >= 100 * 64 && use.code_bytes < 110 * 64);
	assert_true(use.code_pages >= 2 && use.code_pages < 10);
	image_use_deinit(&use);
	/* Other images take half of the time. */
	samples.all = 400;
	assert_int_equal(image_use_find(&use, &samples, 64, 4096), 0);
	assert_float_equal(use.code_bytes, 0, 0);
	image_use_deinit(&use);
	/* Lines were seen once each: there may be any number of them. */
	samples.all = 100;
	for (size_t i = 0; i < 100; i++)
		counts[i].count = 1;
	assert_int_equal(image_use_find(&use, &samples, 64, 0), 0);
	assert_float_equal(use.code_bytes, 0, 0);
	assert_float_equal(use.code_pages, 0, 0);
	image_use_deinit(&use);
}

/* Two call sites: one calls four procedures, the other always the same one. */
static void test_arrivals(void **state)
{
	const struct branch_count branches[] = {
		{.from = 0x10, .to = 0x100, .count = 25}, {.from = 0x10, .to = 0x200, .count = 25},
		{.from = 0x10, .to = 0x300, .count = 25}, {.from = 0x10, .to = 0x400, .count = 25},
		{.from = 0x20, .to = 0x100, .count = 75}, {.from = 0x30, .to = 0x100, .probes = 9},
	};
	struct image_samples samples = samples_make();
	struct image_use use;

	(void)state;
	samples.branches = branches;
	samples.branch_count = 6;
	assert_int_equal(image_use_find(&use, &samples, 64, 4096), 0);
	assert_int_equal(use.arrival_count, 4);
	assert_int_equal(use.arrivals[0].to, 0x100);
	assert_float_equal(use.arrivals[0].count, 100, 1e-9);
	assert_float_equal(use.arrivals[0].varied, 25 * 75 / 99.0, 1e-9);
	assert_float_equal(use.arrivals[3].varied / use.arrivals[3].count, 75 / 99.0, 1e-9);
	image_use_deinit(&use);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_of_the_image),
		cmocka_unit_test(test_arrivals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
