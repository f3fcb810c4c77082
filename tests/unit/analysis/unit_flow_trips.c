// SPDX-License-Identifier: GPL-2.0-only
/* Probabilities that branches leave their loops, from remaining executions at samples. */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/frequency/flow_trips.h"
#include "analysis/graph/cfg_create.h"
#include "analysis/insn/insn.h"
#include "db/profile.h"

static double counts[PROFILE_REMAINING_CLASSES];

/* A sample anywhere in an entry of the loop with this trip count. */
static void sample(unsigned int trips)
{
	unsigned int remaining = 1 + (unsigned int)rand() % trips;

	if (remaining >= 2)
		counts[(unsigned int)(PROFILE_REMAINING_PER_OCTAVE * log2(remaining))]++;
}

static void begin(void)
{
	srand(7);
	for (unsigned int i = 0; i < PROFILE_REMAINING_CLASSES; i++)
		counts[i] = 0;
}

static void constant_trip_counts(void **state)
{
	static const unsigned int trips[] = {20, 100, 700, 950, 1000, 50000, 1000000};
	struct loop_exit exit;

	(void)state;
	for (size_t k = 0; k < sizeof(trips) / sizeof(trips[0]); k++) {
		begin();
		for (int i = 0; i < 2000; i++)
			sample(trips[k]);
		assert_true(loop_exit_measure(&exit, counts, 0));
		assert_true(fabs(log(exit.probability * trips[k])) < 2.5 * sqrt(exit.variance));
		assert_true(exit.variance < 0.1);
	}
}

/* Long entries have more samples; the probability is one by the mean of all entries. */
static void varying_trip_counts(void **state)
{
	struct loop_exit exit;

	(void)state;
	begin();
	/* Entries with 100 and with 300 iterations, equally often. */
	for (int i = 0; i < 4000; i++)
		sample(i % 4 == 0 ? 100 : 300);
	assert_true(loop_exit_measure(&exit, counts, 0));
	assert_true(fabs(log(exit.probability * 200)) < 2.5 * sqrt(exit.variance));
}

static void few_samples_measure_nothing(void **state)
{
	struct loop_exit exit;

	(void)state;
	begin();
	for (int i = 0; i < 5; i++)
		sample(1000);
	assert_false(loop_exit_measure(&exit, counts, 0));
}

/*
 * A search that compares 64 elements, and mostly finds another one at the first or second element.
 * One of 100 entries compares all of them.
 */
static void other_exits_leave_many_executions(void **state)
{
	const double executions = 99 * 1.5 + 64;
	struct loop_exit exit;

	(void)state;
	begin();
	for (int i = 0; i < 20000; i++) {
		double at = executions * rand() / RAND_MAX;
		unsigned int remaining = at < 64 ? 1 + (unsigned int)at : at < 113.5 ? 63 : 64;

		if (remaining >= 2)
			counts[(unsigned int)(PROFILE_REMAINING_PER_OCTAVE * log2(remaining))]++;
	}
	assert_true(loop_exit_measure(&exit, counts, 0));
	assert_true(fabs(log(exit.probability * executions)) < 2.5 * sqrt(exit.variance));
}

/* The number is known for samples with at most 40 executions left. */
static void unknown_samples_are_not_near_the_end(void **state)
{
	struct loop_exit known, all;
	double unknown = 0;

	(void)state;
	begin();
	for (int i = 0; i < 20000; i++) {
		unsigned int remaining = 1 + (unsigned int)rand() % 1000;

		if (remaining >= 2 && remaining <= 40)
			counts[(unsigned int)(PROFILE_REMAINING_PER_OCTAVE * log2(remaining))]++;
		else
			unknown++;
	}
	assert_true(loop_exit_measure(&known, counts, 0));
	assert_true(loop_exit_measure(&all, counts, unknown));
	/* Without the unknown ones, the loop seems to have 40 iterations. */
	assert_true(log(known.probability * 1000) > 10 * sqrt(known.variance));
	assert_true(fabs(log(all.probability * 1000)) < 2 * sqrt(all.variance));
}

/* The number of samples with one execution left may be known, too. */
static void last_iterations_may_be_known(void **state)
{
	static const unsigned int trips[] = {1, 2, 3, 20, 1000};
	struct loop_exit exit;

	(void)state;
	for (size_t k = 0; k < sizeof(trips) / sizeof(trips[0]); k++) {
		begin();
		for (int i = 0; i < 2000; i++) {
			unsigned int remaining = 1 + (unsigned int)rand() % trips[k];

			counts[remaining == 1 ? PROFILE_REMAINING_ONE
					      : (unsigned int)(PROFILE_REMAINING_PER_OCTAVE *
							       log2(remaining))]++;
		}
		assert_true(loop_exit_measure(&exit, counts, 0));
		assert_true(exit.probability < 1);
		assert_true(fabs(exit.probability * trips[k] - 1) < 0.1);
	}
}

/* Samples with one execution left are unknown, and change nothing. */
static void last_iterations_are_no_unknown_samples(void **state)
{
	struct loop_exit exit, same;

	(void)state;
	begin();
	for (int i = 0; i < 4000; i++)
		sample(20);
	assert_true(loop_exit_measure(&exit, counts, 0));
	assert_true(loop_exit_measure(&same, counts, 4000.0 / 20));
	assert_true(fabs(log(same.probability / exit.probability)) < 0.02);
}

/* Return: true if flow_trips_take() uses the numbers at the branch that ends a block. */
static bool takes(const char *code, size_t bytes, uint32_t block)
{
	struct profile_remaining remaining[PROFILE_REMAINING_CLASSES];
	struct procedure_profile profile = {.remaining = remaining};
	struct frequency_input input = {.profile = &profile};
	struct flow_evidence evidence = {NULL};
	double seen[8];
	struct cfg *cfg;
	bool taken = false;

	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)code, bytes,
					      0x1000, NULL),
			 0);
	assert_in_range(cfg->edge_count, 2, 8);
	begin();
	for (int i = 0; i < 2000; i++)
		sample(700);
	for (unsigned int i = 0; i < PROFILE_REMAINING_CLASSES; i++)
		remaining[i] = (struct profile_remaining){.insn = cfg->blocks[block].first +
								  cfg->blocks[block].count - 1,
							  .class = i,
							  .count = counts[i]};
	profile.remaining_count = PROFILE_REMAINING_CLASSES;
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		seen[e] = 1;
	evidence.seen = seen;
	input.cfg = cfg;
	assert_int_equal(flow_trips_take(&evidence, &input), 0);
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		taken |= seen[e] != 1;
	cfg_destroy(cfg);
	return taken;
}

#define TAKES(code) takes(code, sizeof(code) - 1, 0)

static void branches_that_count_are_measured(void **state)
{
	(void)state;
	/* sub $1, %rdi; jne */
	assert_true(TAKES("\x48\x83\xef\x01\x75\xfa\xc3"));
	/* add $8, %rdi; cmp %rsi, %rdi; jb */
	assert_true(TAKES("\x48\x83\xc7\x08\x48\x39\xf7\x72\xf7\xc3"));
	/* addq $1, -8(%rbp); mov -16(%rbp), %rax; cmp %rax, -8(%rbp); jb */
	assert_true(TAKES("\x48\x83\x45\xf8\x01\x48\x8b\x45\xf0\x48\x39\x45\xf8\x72\xf1\xc3"));
}

static void other_branches_are_not(void **state)
{
	(void)state;
	/* add %rdi, %rdi; cmp %rsi, %rdi; jb: an index that is doubled */
	assert_false(TAKES("\x48\x01\xff\x48\x39\xf7\x72\xf8\xc3"));
	/* add $8, %rdi; mov (%rdi), %rsi; cmp %rsi, %rdi; jb: another bound in each iteration */
	assert_false(TAKES("\x48\x83\xc7\x08\x48\x8b\x37\x48\x39\xf7\x72\xf4\xc3"));
	/* shlq $1, -8(%rbp); mov -16(%rbp), %rax; cmp %rax, -8(%rbp); jb */
	assert_false(TAKES("\x48\xd1\x65\xf8\x48\x8b\x45\xf0\x48\x39\x45\xf8\x72\xf2\xc3"));
	/* mov (%rdi), %rdi; test %rdi, %rdi; jne */
	assert_false(TAKES("\x48\x8b\x3f\x48\x85\xff\x75\xf8\xc3"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constant_trip_counts),
		cmocka_unit_test(varying_trip_counts),
		cmocka_unit_test(few_samples_measure_nothing),
		cmocka_unit_test(other_exits_leave_many_executions),
		cmocka_unit_test(unknown_samples_are_not_near_the_end),
		cmocka_unit_test(last_iterations_may_be_known),
		cmocka_unit_test(last_iterations_are_no_unknown_samples),
		cmocka_unit_test(branches_that_count_are_measured),
		cmocka_unit_test(other_branches_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
