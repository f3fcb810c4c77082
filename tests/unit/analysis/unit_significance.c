// SPDX-License-Identifier: GPL-2.0-only
/*
 * The statistics compared with their definitions; the test applied to runs of a simulated program,
 * which is sampled with periods drawn from a window.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/statistics/significance.h"
#include "lib/error.h"
#include "tests/lib/unit.h"

#define SETS 8
#define PROCEDURES 30
#define SAMPLES 1500 /* per run */
#define REPETITIONS 200
#define LEVEL 0.05
#define SLOW 0 /* the procedure with the most samples */
#define VISITS_MAX ((size_t)16 * SAMPLES)

static const enum significance_norm norms[] = {SIGNIFICANCE_COUNTS, SIGNIFICANCE_TIME,
					       SIGNIFICANCE_TOTAL, SIGNIFICANCE_REST};

static double uniform(uint64_t *state)
{
	return ((double)(unit_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
	return sqrt(-2 * log(uniform(state))) * cos(2 * 3.14159265358979323846 * uniform(state));
}

/* Behavior of a program: one procedure after another, each for a number of mean periods. */
struct program {
	size_t count;
	struct {
		unsigned int procedure;
		double periods;
	} visits[VISITS_MAX];
};

static struct program program;

/* Make a program with shares by Zipf's law. @length: mean length of a visit, in periods. */
static void program_make(uint64_t *state, double length)
{
	double total = 0, whole = 0;

	program.count = 0;
	for (unsigned int i = 0; i < PROCEDURES; i++)
		total += 1.0 / (i + 1);
	while (whole < SAMPLES && program.count < VISITS_MAX) {
		double pick = uniform(state) * total, periods = -length * log(uniform(state));
		unsigned int procedure = 0;

		while (procedure < PROCEDURES - 1 && pick > 1.0 / (procedure + 1))
			pick -= 1.0 / (++procedure);
		program.visits[program.count].procedure = procedure;
		program.visits[program.count++].periods = periods;
		whole += periods;
	}
}

/*
 * Sample a run. Each period is drawn from a window of 60/62 to 64/62, as in the module, or (@each)
 * once for that many samples, as by a daemon. 0: samples are independent, and runs follow one
 * another. Procedure @slow takes @factor times as long.
 */
static void sample_run(uint64_t *state, unsigned int each, unsigned int slow, double factor,
		       double counts[PROCEDURES])
{
	double period = 1, next = uniform(state), now = 0;
	unsigned int taken = 0;

	memset(counts, 0, PROCEDURES * sizeof(*counts));
	for (size_t i = 0; i < program.count; i++) {
		unsigned int procedure = program.visits[i].procedure;

		now += program.visits[i].periods * (procedure == slow ? factor : 1);
		while (next < now) {
			counts[procedure]++;
			if (each == 0)
				period = -log(uniform(state));
			else if (taken++ % each == 0)
				period = (60 + 4 * uniform(state)) / 62;
			next += period;
		}
	}
}

static void compare(struct significance *ret, enum significance_norm norm,
		    enum significance_null null, double counts[SETS][PROCEDURES])
{
	static const double seconds[SETS] = {10, 10, 10, 10, 10, 10, 10, 10};
	struct significance_config config = {SETS, seconds, NULL, norm, null, LEVEL};
	struct significance_cell cells[PROCEDURES * SETS];
	struct error err;

	for (size_t row = 0; row < PROCEDURES; row++) {
		for (size_t set = 0; set < SETS; set++)
			cells[row * SETS + set] =
				(struct significance_cell){counts[set][row], counts[set][row]};
	}
	*ret = (struct significance){0};
	assert_int_equal(significance_find(ret, &config, cells, PROCEDURES, &err), 0);
}

/* Count the repetitions of equal runs in which any procedure is significant. */
static void count_false(double length, unsigned int each, unsigned int found[4], uint64_t seed)
{
	static double counts[SETS][PROCEDURES];

	memset(found, 0, 4 * sizeof(*found));
	for (unsigned int i = 0; i < REPETITIONS; i++) {
		uint64_t state = seed + i;

		program_make(&state, length);
		for (size_t set = 0; set < SETS; set++)
			sample_run(&state, each, PROCEDURES, 1, counts[set]);
		for (size_t norm = 0; norm < 4; norm++) {
			struct significance significance;

			compare(&significance, norms[norm], SIGNIFICANCE_SAMPLING, counts);
			found[norm] += significance.significant > 0;
			significance_deinit(&significance);
		}
	}
}

static void test_equal_runs(void **state)
{
	/* visits shorter than a period, about as long, and longer than many */
	static const double lengths[] = {0.1, 1, 30};
	unsigned int found[4];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		count_false(lengths[i], 1, found, 1000 * i);
		print_message("visits of %g periods: false alarms in %u %u %u %u of %d (counts, "
			      "time, total, rest)\n",
			      lengths[i], found[0], found[1], found[2], found[3], REPETITIONS);
		for (size_t norm = 0; norm < 4; norm++)
			assert_true(found[norm] <= LEVEL * REPETITIONS);
	}
	/* Independent samples are the largest variation that the test allows for. */
	count_false(0.2, 0, found, 9000);
	print_message("independent samples: %u %u %u %u\n", found[0], found[1], found[2], found[3]);
	for (size_t norm = 0; norm < 4; norm++)
		assert_true(found[norm] <= LEVEL * REPETITIONS);
	/* If many samples share a period, only norms by total are unaffected. */
	count_false(0.2, 1000, found, 5000);
	print_message("periods drawn seldom: %u %u %u %u\n", found[0], found[1], found[2],
		      found[3]);
	assert_true(found[2] <= LEVEL * REPETITIONS && found[3] <= LEVEL * REPETITIONS);
}

/* With independent samples, the test's probabilities are uniform over their whole range. */
static void test_probabilities_are_uniform(void **state)
{
	unsigned int below[10] = {0}, tests = 0;
	static double counts[SETS][PROCEDURES];
	uint64_t random = 42;
	double sum = 0;

	(void)state;
	for (unsigned int i = 0; i < 300; i++) {
		struct significance significance;

		program_make(&random, 0.2);
		for (size_t set = 0; set < SETS; set++)
			sample_run(&random, 0, PROCEDURES, 1, counts[set]);
		compare(&significance, SIGNIFICANCE_TOTAL, SIGNIFICANCE_SAMPLING, counts);
		for (size_t row = 0; row < PROCEDURES; row++) {
			if (!significance.rows[row].tested)
				continue;
			tests++;
			sum += significance.rows[row].dispersion;
			for (unsigned int d = 0; d < 10; d++)
				below[d] += significance.rows[row].p <= (d + 1) / 10.0;
		}
		significance_deinit(&significance);
	}
	assert_true(tests > 5000);
	print_message("mean dispersion %.4f, p <= 0.1 in %.4f, <= 0.5 in %.4f\n", sum / tests,
		      (double)below[0] / tests, (double)below[4] / tests);
	assert_true(fabs(sum / tests - 1) < 0.03);
	for (unsigned int d = 0; d < 10; d++)
		assert_true(fabs((double)below[d] / tests - (d + 1) / 10.0) < 0.02);
}

/*
 * One procedure takes up to 2.3 times as long (smooth_ did in the paper): it is ranked first, and
 * is the only one found.
 */
static void test_one_row_varies(void **state)
{
	static const double factors[SETS] = {1, 2.3, 1.2, 1, 2, 1, 1.5, 1.7};
	static double counts[SETS][PROCEDURES];
	unsigned int found = 0, first = 0, others[4] = {0};

	(void)state;
	for (unsigned int i = 0; i < REPETITIONS; i++) {
		uint64_t random = 77 + i;

		program_make(&random, 0.2);
		for (size_t set = 0; set < SETS; set++)
			sample_run(&random, 1, SLOW, factors[set], counts[set]);
		for (size_t norm = 0; norm < 4; norm++) {
			struct significance significance;
			size_t best = 0;

			compare(&significance, norms[norm], SIGNIFICANCE_SAMPLING, counts);
			for (size_t row = 0; row < PROCEDURES; row++) {
				if (significance.rows[row].q < significance.rows[best].q)
					best = row;
			}
			found += significance.rows[SLOW].significant;
			first += best == SLOW;
			others[norm] +=
				significance.significant - significance.rows[SLOW].significant > 0;
			if (norms[norm] == SIGNIFICANCE_REST)
				assert_false(significance.rows[SLOW].in_total);
			significance_deinit(&significance);
		}
	}
	print_message("found %u, first %u of %d; others with it in %u %u %u %u\n", found, first,
		      4 * REPETITIONS, others[0], others[1], others[2], others[3]);
	assert_int_equal(found, 4 * REPETITIONS);
	assert_int_equal(first, 4 * REPETITIONS);
	/* Shares of the others change too, unless the varying procedure is excluded. */
	assert_true(others[2] > REPETITIONS / 2);
	assert_true(others[3] <= LEVEL * REPETITIONS);
}

/* All procedures vary by 5%, one by 40%: the common variation is not significant. */
static void test_all_rows_vary(void **state)
{
	static double counts[SETS][PROCEDURES];
	double sum = 0, background = 0, errors = 0;
	unsigned int covered = 0, found = 0, noise = 0;

	(void)state;
	for (unsigned int i = 0; i < REPETITIONS; i++) {
		uint64_t random = 777 + i;
		struct significance significance;

		for (size_t set = 0; set < SETS; set++) {
			for (size_t row = 0; row < PROCEDURES; row++) {
				double spread = row == 3 ? 0.4 : 0.05;
				double mean = 3000 + 200 * (double)row;

				mean *= exp(spread * normal(&random) - spread * spread / 2);
				counts[set][row] = floor(mean + sqrt(mean) * normal(&random));
			}
		}
		compare(&significance, SIGNIFICANCE_COUNTS, SIGNIFICANCE_OTHERS, counts);
		sum += significance.rows[5].spread;
		background += significance.background;
		covered += significance.rows[5].spread_low <= 0.05 &&
			   significance.rows[5].spread_high >= 0.05;
		found += significance.rows[3].significant;
		errors += 1 - 1.0 / (double)significance.significant;
		significance_deinit(&significance);
		compare(&significance, SIGNIFICANCE_COUNTS, SIGNIFICANCE_SAMPLING, counts);
		noise += significance.significant > PROCEDURES / 2;
		significance_deinit(&significance);
	}
	print_message("spread %.4f, background %.4f, interval right in %u, found %u, %.3f of those "
		      "found are others\n",
		      sum / REPETITIONS, background / REPETITIONS, covered, found,
		      errors / REPETITIONS);
	assert_true(fabs(sum / REPETITIONS - 0.05) < 0.005);
	assert_true(fabs(background / REPETITIONS - 0.05) < 0.005);
	assert_true(covered >= 0.9 * REPETITIONS && covered <= 0.99 * REPETITIONS);
	assert_int_equal(found, REPETITIONS);
	/* Slightly above the level, because the common variation is also estimated. */
	assert_true(errors / REPETITIONS <= 0.07);
	assert_int_equal(noise, REPETITIONS);
}

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * (1 + fabs(want))))
		fail_msg("got %.15g, want %.15g", got, want);
}

/* Two rows, three sets, computed by hand. */
static void test_definitions(void **state)
{
	static const double seconds[] = {1, 2, 1};
	static const struct significance_cell cells[] = {{10, 10}, {40, 80},   {10, 10},
							 {90, 90}, {160, 320}, {90, 90}};
	struct significance_config config = {
		3, seconds, NULL, SIGNIFICANCE_COUNTS, SIGNIFICANCE_SAMPLING, 0.05};
	struct significance out = {0};
	struct error err;

	(void)state;
	assert_int_equal(significance_find(&out, &config, cells, 2, &err), 0);
	near(out.rows[0].sum, 100);
	near(out.rows[0].mean, 100 / 3.0);
	near(out.rows[0].std_dev, sqrt((2 * 23.333333333333333 * 23.333333333333333 +
					46.666666666666667 * 46.666666666666667) /
				       2));
	near(out.rows[0].half, 4.302652729749464 * out.rows[0].std_dev / sqrt(3));
	near(out.rows[0].range, 0.7);
	near(out.rows[0].share, 1 / 6.0);
	assert_int_equal(out.rows[0].most, 1);
	assert_int_equal(out.rows[0].least, 0);
	assert_int_equal(out.rows[0].present, 3);
	/* Exposures are 1, 1/2 and 1: expected are 24, 12 and 24. */
	near(out.rows[0].dispersion * 2, 2 * 14 * 14 / 24.0 + 28 * 28 / 12.0);
	significance_deinit(&out);

	config.norm = SIGNIFICANCE_TIME;
	assert_int_equal(significance_find(&out, &config, cells, 2, &err), 0);
	near(out.values[1], 80 * 2 / 3.0);
	near(out.values[0], 10 * 4 / 3.0);
	/* Exposures are in proportion to 1, 1 and 1. */
	near(out.rows[0].dispersion * 2, 2 * 100 / 20.0 + 400 / 20.0);
	significance_deinit(&out);

	config.norm = SIGNIFICANCE_TOTAL;
	assert_int_equal(significance_find(&out, &config, cells, 2, &err), 0);
	near(out.values[0], 20);
	near(out.values[1], 40);
	/* Shares of 100, 200 and 100: expected are 15, 30 and 15. */
	near(out.rows[0].dispersion * 2, (25 / 15.0 + 100 / 30.0 + 25 / 15.0) / 0.85);
	near(out.rows[1].dispersion, out.rows[0].dispersion);
	significance_deinit(&out);

	/* The second row may be replaced by a rest: samples of the total that are in no row. */
	config.rest = cells + 3;
	assert_int_equal(significance_find(&out, &config, cells, 1, &err), 0);
	near(out.values[1], 40);
	near(out.rows[0].dispersion * 2, (25 / 15.0 + 100 / 30.0 + 25 / 15.0) / 0.85);
	near(out.rows[0].share, 80 / 600.0);
	significance_deinit(&out);
}

/* Rows with few samples are not tested; sets that cannot be compared are refused. */
static void test_few_samples_and_bad_input(void **state)
{
	static const double seconds[] = {1, 0};
	struct significance_cell cells[] = {{4, 4}, {5, 5}, {90, 90}, {1, 1}, {0, 0}, {0, 0}};
	struct significance_config config = {
		2, seconds, NULL, SIGNIFICANCE_TOTAL, SIGNIFICANCE_SAMPLING, 0.05};
	struct significance out = {0};
	struct error err;

	(void)state;
	assert_int_equal(significance_find(&out, &config, cells, 3, &err), 0);
	assert_false(out.rows[0].tested);
	assert_true(out.rows[0].p == 1 && out.rows[0].q == 1);
	assert_true(out.rows[1].tested);
	assert_int_equal(out.rows[2].present, 0);
	assert_true(out.rows[2].range == 0 && out.rows[2].share == 0);
	significance_deinit(&out);

	/* A row with the whole total cannot vary relative to it. */
	assert_int_equal(significance_find(&out, &config, cells + 2, 1, &err), 0);
	assert_false(out.rows[0].tested);
	significance_deinit(&out);

	config.norm = SIGNIFICANCE_TIME;
	assert_int_equal(significance_find(&out, &config, cells, 3, &err), -EINVAL);
	significance_deinit(&out);
	config.norm = SIGNIFICANCE_COUNTS;
	assert_int_equal(significance_find(&out, &config, cells + 4, 1, &err), -EINVAL);
	significance_deinit(&out);
	config.sets = 1;
	assert_int_equal(significance_find(&out, &config, cells, 3, &err), -EINVAL);
	significance_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_definitions),
		cmocka_unit_test(test_few_samples_and_bad_input),
		cmocka_unit_test(test_equal_runs),
		cmocka_unit_test(test_probabilities_are_uniform),
		cmocka_unit_test(test_one_row_varies),
		cmocka_unit_test(test_all_rows_vary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
