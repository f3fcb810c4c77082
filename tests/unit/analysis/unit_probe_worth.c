// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows of branches of many kinds are simulated. The estimated worth of probes must match the
 * variance of the measured shares between simulations.
 */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdint.h>

#include "analysis/frequency/probe_worth.h"

#define FROM 0x1000
#define WINDOWS 40
#define HITS 300
#define DRAWS 2000

/* struct kind - behavior of a branch: runs of executions in the same direction */
struct kind {
	double share;
	double run;
};

struct draw {
	struct branch_count branches[3];
	double share;
};

static double draw_unit(uint64_t *seed)
{
	return (double)(unit_random(seed) >> 11) / (double)(1ULL << 53);
}

/* Each window begins at a random place of a run; all executions of a run are equivalent. */
static struct draw draw(const struct kind *kind, size_t windows, uint64_t *seed)
{
	struct draw draw = {.branches = {{.from = FROM, .to = FROM},
					 {.from = FROM, .to = FROM + 2},
					 {.from = FROM, .to = FROM + 64}}};

	for (size_t w = 0; w < windows; w++) {
		bool taken = draw_unit(seed) < kind->share;
		double ways[2] = {0};

		for (int i = 0; i < HITS; i++) {
			if (draw_unit(seed) * kind->run < 1)
				taken = draw_unit(seed) < kind->share;
			ways[taken]++;
		}
		draw.branches[0].beside++;
		draw.branches[0].moment += ways[0] * ways[1];
		for (int way = 0; way < 2; way++) {
			draw.branches[1 + way].probes += ways[way];
			draw.branches[1 + way].moment += ways[way] * ways[way];
		}
	}
	draw.share = draw.branches[2].probes / (draw.branches[1].probes + draw.branches[2].probes);
	return draw;
}

/* Return the median of the estimated worth, and compute the true worth. */
static double worth_said(const struct kind *kind, size_t windows, double *true_worth)
{
	double sum = 0, squares = 0, said = 0;
	uint64_t seed = 7;

	for (int i = 0; i < DRAWS; i++) {
		struct draw one = draw(kind, windows, &seed);

		sum += one.share;
		squares += one.share * one.share;
		said += log(probe_worth(one.branches, 3));
	}
	sum /= DRAWS;
	*true_worth = sum * (1 - sum) / (squares / DRAWS - sum * sum) / (HITS * (double)windows);
	return exp(said / DRAWS);
}

static void windows_say_what_they_are_worth(void **state)
{
	static const struct kind kinds[] = {{0.5, 1},  {0.3, 1},   {0.05, 1},  {0.5, 20},
					    {0.2, 20}, {0.5, 200}, {0.2, 200}, {0.5, 3000}};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		double is, said = worth_said(&kinds[i], WINDOWS, &is);

		if (said < fmin(is, 1) / 1.8 || said > fmin(is, 1) * 1.8)
			fail_msg("share %g, runs of %g: worth %g, said to be %g", kinds[i].share,
				 kinds[i].run, is, said);
	}
}

/* A single window is worth less: whether others are like it is unknown. */
static void one_window_is_worth_less(void **state)
{
	static const struct kind steady = {0.3, 1}, changing = {0.3, 3000};
	uint64_t seed = 3;
	struct draw a = draw(&steady, 1, &seed), b = draw(&changing, 1, &seed);
	double of_steady = probe_worth(a.branches, 3), of_changing = probe_worth(b.branches, 3);

	(void)state;
	assert_true(of_steady > 0.01 && of_steady < 0.6);
	assert_true(of_changing > 0 && of_changing < of_steady / 10);
}

/* The other direction may occur in parts of the program without a window: one in many. */
static void windows_of_one_way_are_worth_few(void **state)
{
	const double count = 20, weight = 100;
	const struct branch_count one[] = {
		{.from = FROM, .to = FROM, .beside = count, .hits = count * 5000},
		{.from = FROM,
		 .to = FROM + 2,
		 .probes = count * weight,
		 .moment = count * weight * weight}};
	double executions = probe_worth(one, 2) * count * weight;

	(void)state;
	assert_true(executions > count);
	assert_true(executions < 30 * count);
}

static void without_windows_all_count(void **state)
{
	const struct branch_count samples[] = {{.from = FROM, .to = FROM + 2, .count = 5},
					       {.from = FROM, .to = FROM + 64, .count = 9}};
	const struct branch_count many[] = {{.from = FROM, .to = FROM, .beside = 10},
					    {.from = FROM, .to = FROM + 2, .probes = 20},
					    {.from = FROM, .to = FROM + 9, .probes = 300},
					    {.from = FROM, .to = FROM + 64, .probes = 180}};
	double worth = probe_worth(many, 4);

	(void)state;
	assert_float_equal(probe_worth(samples, 2), 1, 0);
	assert_float_equal(probe_worth(samples, 0), 1, 0);
	/* There are no squares for an indirect jump. */
	assert_true(worth > 0.1 && worth < 0.9);
}

/*
 * A loop that always ends after the same number of iterations, in windows of many. With their
 * weights, each window is worth far more than one execution, but never more than its true worth.
 */
static void windows_that_are_alike_are_worth_more(void **state)
{
	const double trips = 120, hits = 2400, weight = 100;
	double sum = 0, squares = 0, said = 0, share, is;
	uint64_t seed = 11;

	(void)state;
	for (int i = 0; i < DRAWS; i++) {
		struct draw one = {.branches = {{.from = FROM, .to = FROM},
						{.from = FROM, .to = FROM + 2},
						{.from = FROM, .to = FROM + 64}}};

		for (size_t w = 0; w < WINDOWS; w++) {
			double ends = floor(hits / trips + draw_unit(&seed)) * weight / hits;
			const double ways[2] = {ends, weight - ends};

			one.branches[0].beside++;
			one.branches[0].hits += hits;
			one.branches[0].moment += ways[0] * ways[1];
			for (int way = 0; way < 2; way++) {
				one.branches[1 + way].probes += ways[way];
				one.branches[1 + way].moment += ways[way] * ways[way];
			}
		}
		share = one.branches[1].probes / (weight * WINDOWS);
		sum += share / DRAWS;
		squares += share * share / DRAWS;
		said += probe_worth(one.branches, 3) / DRAWS;
	}
	is = sum * (1 - sum) / fmax(squares - sum * sum, 1e-12) / (weight * WINDOWS);
	assert_float_equal(sum, 1 / trips, 1e-4);
	assert_true(said > 10);
	assert_true(said < is);
}

/* Impossible rows, which a file may contain. */
static void nonsense_stays_in_range(void **state)
{
	const struct branch_count rows[][3] = {
		{{.from = FROM, .to = FROM, .beside = 1e9},
		 {.from = FROM, .to = 1, .probes = 1, .moment = 1e300},
		 {.from = FROM, .to = 2, .probes = 1, .moment = 1e300}},
		{{.from = FROM, .to = FROM, .beside = 2, .moment = 1e300},
		 {.from = FROM, .to = 1, .probes = 1, .moment = 1},
		 {.from = FROM, .to = 2, .probes = 1, .moment = 1}},
		{{.from = FROM, .to = FROM, .probes = 9, .beside = 1, .moment = 1},
		 {.from = FROM, .to = 1, .moment = 5},
		 {.from = FROM, .to = 2, .moment = 5}},
		{{.from = FROM, .to = FROM, .beside = 1e-300},
		 {.from = FROM, .to = 1, .probes = 1e300},
		 {.from = FROM, .to = 2, .moment = 1}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double worth = probe_worth(rows[i], 3);

		if (!(worth > 0 && isfinite(worth)))
			fail_msg("case %zu: %g", i, worth);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_say_what_they_are_worth),
		cmocka_unit_test(one_window_is_worth_less),
		cmocka_unit_test(windows_of_one_way_are_worth_few),
		cmocka_unit_test(without_windows_all_count),
		cmocka_unit_test(windows_that_are_alike_are_worth_more),
		cmocka_unit_test(nonsense_stays_in_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
