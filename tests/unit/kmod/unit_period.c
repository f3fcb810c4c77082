// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <math.h>

#include "kmod/core/period.h"

enum {
	DRAWS = 100000,
	BINS = 100
};

/* Carta's published check of the minimal standard generator. */
static void test_generator_is_minimal_standard(void **state)
{
	uint32_t x = 1;
	int i;

	(void)state;
	for (i = 0; i < 10000; i++)
		period_random(&x);
	assert_int_equal(x, 1043618065);
}

/* Upper 0.1% point of chi-square, by Wilson and Hilferty. */
static double chi_square_limit(double freedom)
{
	double a = 2 / (9 * freedom);

	return freedom * pow(1 - a + 3.0902 * sqrt(a), 3);
}

static void check_window(uint32_t seed, uint64_t min, uint64_t max)
{
	static double draw[DRAWS];
	double expected = (double)DRAWS / BINS, chi = 0, mean = 0, variance = 0;
	double span = (double)(max - min + 1);
	uint32_t bin[BINS] = {0};
	struct period period;
	int i, lag;

	period_init(&period, seed, min, max);
	for (i = 0; i < DRAWS; i++) {
		uint64_t p = period_next(&period);

		assert_in_range(p, min, max);
		draw[i] = (double)(p - min) / span;
		bin[(int)(draw[i] * BINS)]++;
		mean += draw[i] / DRAWS;
	}
	for (i = 0; i < BINS; i++)
		chi += (bin[i] - expected) * (bin[i] - expected) / expected;
	assert_true(chi < chi_square_limit(BINS - 1));
	for (i = 0; i < DRAWS; i++)
		variance += (draw[i] - mean) * (draw[i] - mean);
	for (lag = 1; lag <= 32; lag++) {
		double sum = 0;

		for (i = lag; i < DRAWS; i++)
			sum += (draw[i] - mean) * (draw[i - lag] - mean);
		/* four standard deviations of an uncorrelated sequence */
		assert_true(fabs(sum / variance) < 4 / sqrt(DRAWS));
	}
}

static void test_periods_are_uniform_and_uncorrelated(void **state)
{
	(void)state;
	check_window(1, 60000, 64000 - 1);
	check_window(2, 180000, 192000 - 1);
	check_window(3, 60000, 60000 + BINS * 40 - 1);
	check_window(4, 1000, (1ULL << 40) - 1);
}

/* CPUs get consecutive seeds; their sequences must not be correlated. */
static void test_adjacent_seeds_are_uncorrelated(void **state)
{
	struct period a, b;
	double sum = 0;
	int i;

	(void)state;
	period_init(&a, 7, 0, 999);
	period_init(&b, 8, 0, 999);
	for (i = 0; i < DRAWS; i++)
		sum += ((double)period_next(&a) - 499.5) * ((double)period_next(&b) - 499.5);
	assert_true(fabs(sum / DRAWS / (1000.0 * 1000 / 12)) < 4 / sqrt(DRAWS));
}

static void test_range_of_one(void **state)
{
	struct period period;
	int i;

	(void)state;
	period_init(&period, 0, 62000, 62000);
	for (i = 0; i < 1000; i++)
		assert_int_equal(period_next(&period), 62000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generator_is_minimal_standard),
		cmocka_unit_test(test_periods_are_uniform_and_uncorrelated),
		cmocka_unit_test(test_adjacent_seeds_are_uncorrelated),
		cmocka_unit_test(test_range_of_one),
	};

	return cmocka_run_group_tests_name("period", tests, NULL, NULL);
}
