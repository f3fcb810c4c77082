// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/cfg_create.h"
#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "analysis/frequency/frequency.h"
#include "analysis/insn/insn.h"
#include "analysis/machine/machine_model.h"

#define ADDRESS 0x1000
#define SAMPLES 10000.0
/* Between these an iteration takes, if each loads from memory, or all from the nearest cache. */
#define MEMORY_CYCLES 300.0
#define CACHE_SPEED 1.25
#define ITERATIONS 1000
#define EDGES_MAX 8

/* A loop of one block, as its bytes, and whether each iteration loads from another line. */
struct loop {
	const char *name;
	const char *code;
	size_t bytes;
	bool changes_lines;
};

#define LOOP(name, code, changes_lines)                                                            \
	{                                                                                          \
		name, code, sizeof(code) - 1, changes_lines                                        \
	}

static const struct loop loops[] = {
	LOOP("mov (%rax), %rax", "\x48\x8b\x00\x48\x85\xc0\x75\xf8", true),
	LOOP("mov 8(%rax), %rax", "\x48\x8b\x40\x08\x48\x85\xc0\x75\xf7", true),
	LOOP("add $64, %rsi", "\x48\x03\x06\x48\x83\xc6\x40\x48\x39\xd6\x75\xf4", true),
	LOOP("sub $64, %rsi", "\x48\x03\x06\x48\x83\xee\x40\x48\x39\xd6\x75\xf4", true),
	LOOP("lea 64(%rsi), %rsi", "\x48\x03\x06\x48\x8d\x76\x40\x48\x39\xd6\x75\xf4", true),
	LOOP("add $8, %rsi", "\x48\x03\x06\x48\x83\xc6\x08\x48\x39\xd6\x75\xf4", false),
	LOOP("lea 8(%rsi), %rsi", "\x48\x03\x06\x48\x8d\x76\x08\x48\x39\xd6\x75\xf4", false),
	/* Stores need not be waited for. */
	LOOP("mov %rax, (%rsi); add $64, %rsi", "\x48\x89\x06\x48\x83\xc6\x40\x48\x39\xd6\x75\xf4",
	     false),
	/* Another register goes on by lines than the one that is loaded by. */
	LOOP("add (%rdi), %rax; add $64, %rsi", "\x48\x03\x07\x48\x83\xc6\x40\x48\x39\xd6\x75\xf4",
	     false),
};

#define LOOPS (sizeof(loops) / sizeof(loops[0]))

/* The estimate of the first block; @bound: cycles of one execution of it, at best */
static struct frequency_estimate estimate(const struct cfg *cfg, struct procedure_profile *profile,
					  double *bound)
{
	struct frequency_input input = {
		.profile = profile, .cfg = cfg, .model = machine_model_find("x86-64")};
	struct frequency_estimate ret;
	struct frequency frequency;
	struct schedule schedule;

	assert_non_null(input.model);
	assert_int_equal(schedule_create(&schedule, input.model, cfg, NULL), 0);
	input.schedule = &schedule;
	*bound = schedule.block_cycles[0];
	assert_int_equal(frequency_estimate(&frequency, frequency_estimator_find("dcpi"), &input),
			 0);
	ret = frequency.blocks[0];
	frequency_deinit(&frequency);
	schedule_deinit(&schedule);
	return ret;
}

/* The estimate of a loop of many iterations, all of whose samples are at one instruction */
static struct frequency_estimate estimate_loop(const struct loop *loop, double *bound)
{
	struct procedure_profile profile = {
		.total = SAMPLES, .period_cycles = 1, .calls_in = -1, .slowness = 1};
	struct frequency_estimate ret;
	double samples[8] = {SAMPLES}, seen[EDGES_MAX] = {0};
	struct cfg *cfg;

	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)loop->code,
					      loop->bytes, ADDRESS, NULL),
			 0);
	assert_int_equal(cfg->block_count, 1);
	assert_in_range(cfg->insn_count, 3, 8);
	profile.samples = samples;
	assert_in_range(cfg->edge_count, 2, EDGES_MAX);
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		if (cfg->edges[e].from == 0)
			seen[e] = cfg->edges[e].to == 0 ? ITERATIONS : 1;
	}
	profile.edge_samples = seen;
	ret = estimate(cfg, &profile, bound);
	assert_true(*bound >= 1 && *bound < 10);
	cfg_destroy(cfg);
	return ret;
}

/*
 * Samples of such loops look alike whether each load misses or none does: the interval has
 * room for both, and no confidence.
 */
static void test_loops_that_change_lines_may_wait_for_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < LOOPS; i++) {
		double bound;
		struct frequency_estimate estimate = estimate_loop(&loops[i], &bound);

		if (!loops[i].changes_lines)
			continue;
		if (estimate.low > SAMPLES / MEMORY_CYCLES || estimate.high < SAMPLES / bound ||
		    estimate.confidence != FREQUENCY_LOW)
			fail_msg("%s: %g (%g to %g), bound %g", loops[i].name, estimate.value,
				 estimate.low, estimate.high, bound);
	}
}

/* The others run at their bound, as far as one program is like another. */
static void test_other_loops_run_at_their_bound(void **state)
{
	(void)state;
	for (size_t i = 0; i < LOOPS; i++) {
		double bound, ratio;
		struct frequency_estimate estimate = estimate_loop(&loops[i], &bound);

		if (loops[i].changes_lines)
			continue;
		ratio = estimate.value * bound / SAMPLES;
		if (ratio < 1 / CACHE_SPEED || ratio > CACHE_SPEED ||
		    estimate.low < SAMPLES / MEMORY_CYCLES)
			fail_msg("%s: %g (%g to %g), bound %g", loops[i].name, estimate.value,
				 estimate.low, estimate.high, bound);
	}
}

/* A block that waits, and one behind it, as often executed, that has a hundredth of the samples */
static double estimate_behind(const char *code, size_t bytes)
{
	struct procedure_profile profile = {
		.total = SAMPLES * 1.01, .period_cycles = 1, .calls_in = -1, .slowness = 1};
	double samples[32] = {SAMPLES}, bound, ret;
	struct cfg *cfg;

	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)code, bytes,
					      ADDRESS, NULL),
			 0);
	assert_int_equal(cfg->block_count, 2);
	assert_in_range(cfg->insn_count, 3, 32);
	samples[cfg->blocks[1].first] = SAMPLES / 100;
	profile.samples = samples;
	ret = estimate(cfg, &profile, &bound).value;
	cfg_destroy(cfg);
	return ret;
}

/*
 * A short block may have few samples because it passes beside what waits; a long one has
 * few because it is seldom executed.
 */
static void test_few_samples_tell_more_of_long_blocks(void **state)
{
	static const char begin[] = "\x48\x8b\x03\x48\x85\xc0\x75\x00", /* jne to the next one */
		add[] = "\x48\x01\xd1", end[] = "\xc3";
	char brief[sizeof(begin) + sizeof(add)], extended[sizeof(begin) + 20 * sizeof(add)];
	size_t bytes = sizeof(begin) - 1;
	double after_short, after_long;

	(void)state;
	memcpy(brief, begin, bytes);
	memcpy(brief + bytes, end, 1);
	after_short = estimate_behind(brief, bytes + 1);
	memcpy(extended, begin, bytes);
	for (int i = 0; i < 20; i++, bytes += sizeof(add) - 1)
		memcpy(extended + bytes, add, sizeof(add) - 1);
	memcpy(extended + bytes, end, 1);
	after_long = estimate_behind(extended, bytes + 1);
	if (!(after_long < after_short / 5))
		fail_msg("%g behind a short block, %g behind a long one", after_short, after_long);
}

/* A long block, ten iterations of a short loop behind it that has so many samples, a return. */
static double estimate_before_loop(double loop_samples)
{
	static const char add[] = "\x48\x01\xd1",
			  loop[] = "\x48\x83\xc6\x08\x48\x39\xd6\x75\xf7\xc3";
	char code[20 * (sizeof(add) - 1) + sizeof(loop) - 1];
	struct procedure_profile profile = {
		.total = SAMPLES + loop_samples, .period_cycles = 1, .calls_in = -1, .slowness = 1};
	double samples[32] = {SAMPLES}, seen[EDGES_MAX] = {0}, bound, ret;
	size_t bytes = 0;
	struct cfg *cfg;

	for (; bytes < 20 * (sizeof(add) - 1); bytes += sizeof(add) - 1)
		memcpy(code + bytes, add, sizeof(add) - 1);
	memcpy(code + bytes, loop, sizeof(loop) - 1);
	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)code,
					      sizeof(code), ADDRESS, NULL),
			 0);
	assert_int_equal(cfg->block_count, 3);
	assert_in_range(cfg->edge_count, 4, EDGES_MAX);
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		if (cfg->edges[e].from == 1)
			seen[e] = cfg->edges[e].to == 1 ? 900 : 100;
	}
	samples[cfg->blocks[1].first] = loop_samples;
	profile.samples = samples;
	profile.edge_samples = seen;
	ret = estimate(cfg, &profile, &bound).value;
	cfg_destroy(cfg);
	return ret;
}

/* Its bound is the least that a loop takes: one that takes a hundred times as long waits. */
static void test_loops_may_wait(void **state)
{
	double plain = estimate_before_loop(SAMPLES), waiting = estimate_before_loop(100 * SAMPLES);

	(void)state;
	if (!(waiting < 50 * plain))
		fail_msg("%g executions, %g if the loop waits", plain, waiting);
}

/* The part of a waiting block's executions that its branch is not taken in. */
static double part_not_taken(double *behind_samples, double *probes)
{
	/* mov (%rbx), %rax; test %rax, %rax; jne over the next one; add %rdx, %rcx; ret */
	static const char code[] = "\x48\x8b\x03\x48\x85\xc0\x75\x03\x48\x01\xd1\xc3";
	struct procedure_profile profile = {
		.total = SAMPLES * 1.1, .period_cycles = 1, .calls_in = -1, .slowness = 1};
	double samples[8] = {SAMPLES}, seen[EDGES_MAX] = {0}, probed[EDGES_MAX] = {0}, ret = -1;
	struct frequency_input input = {.profile = &profile, .model = machine_model_find("x86-64")};
	struct frequency frequency;
	struct schedule schedule;
	struct cfg *cfg;

	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)code,
					      sizeof(code) - 1, ADDRESS, NULL),
			 0);
	assert_int_equal(cfg->block_count, 3);
	assert_in_range(cfg->edge_count, 4, EDGES_MAX);
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		if (cfg->edges[e].from != 0)
			continue;
		seen[e] = behind_samples[cfg->edges[e].to == 2];
		probed[e] = probes[cfg->edges[e].to == 2];
	}
	samples[cfg->blocks[1].first] = samples[cfg->blocks[2].first] = SAMPLES / 20;
	profile.samples = samples;
	profile.edge_samples = seen;
	profile.edge_probes = probed;
	assert_int_equal(schedule_create(&schedule, input.model, cfg, NULL), 0);
	input.cfg = cfg;
	input.schedule = &schedule;
	assert_int_equal(frequency_estimate(&frequency, frequency_estimator_find("dcpi"), &input),
			 0);
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		if (cfg->edges[e].from == 0 && cfg->edges[e].to == 1)
			ret = frequency.edges[e].value / frequency.blocks[0].value;
	}
	frequency_deinit(&frequency);
	schedule_deinit(&schedule);
	cfg_destroy(cfg);
	return ret;
}

/* Nine in ten samples lead one way, for that is when it waits; of executions it is a third. */
static void test_probes_are_believed(void **state)
{
	double samples[] = {900, 100}, probes[] = {700, 1400}, few[] = {2, 4}, none[] = {0, 0};
	double alone = part_not_taken(samples, none), with = part_not_taken(samples, probes);

	(void)state;
	assert_true(alone > 0.7);
	if (fabs(with - 1.0 / 3) > 0.03)
		fail_msg("%g not taken, by samples %g", with, alone);
	/* So few say nothing yet. */
	assert_float_equal(part_not_taken(samples, few), alone, 1e-9);
	/* And with no directions behind samples there are still those of probes. */
	assert_true(fabs(part_not_taken(none, probes) - 1.0 / 3) < 0.03);
}

/*
 * mov (%rbx), %rax; test %rax, %rax; je to the end; ret; ud2: few samples behind a branch
 * say nothing, but one way is that of a failed check.
 */
static void test_failed_checks_are_seldom(void **state)
{
	static const char code[] = "\x48\x8b\x03\x48\x85\xc0\x74\x01\xc3\x0f\x0b";
	struct procedure_profile profile = {
		.total = SAMPLES, .period_cycles = 1, .calls_in = -1, .slowness = 1};
	double samples[8] = {SAMPLES};
	struct frequency_input input = {.profile = &profile, .model = machine_model_find("x86-64")};
	struct frequency frequency;
	struct schedule schedule;
	struct cfg *cfg;

	(void)state;
	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)code,
					      sizeof(code) - 1, ADDRESS, NULL),
			 0);
	assert_int_equal(cfg->block_count, 3);
	profile.samples = samples;
	assert_int_equal(schedule_create(&schedule, input.model, cfg, NULL), 0);
	input.cfg = cfg;
	input.schedule = &schedule;
	assert_int_equal(frequency_estimate(&frequency, frequency_estimator_find("dcpi"), &input),
			 0);
	if (frequency.blocks[2].value > 0.05 * frequency.blocks[1].value)
		fail_msg("%g failed, %g not", frequency.blocks[2].value, frequency.blocks[1].value);
	frequency_deinit(&frequency);
	schedule_deinit(&schedule);
	cfg_destroy(cfg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failed_checks_are_seldom),
		cmocka_unit_test(test_probes_are_believed),
		cmocka_unit_test(test_loops_that_change_lines_may_wait_for_memory),
		cmocka_unit_test(test_other_loops_run_at_their_bound),
		cmocka_unit_test(test_few_samples_tell_more_of_long_blocks),
		cmocka_unit_test(test_loops_may_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
