// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/cfg_create.h"
#include "tests/lib/unit.h"

#include <math.h>
#include <string.h>

#include "analysis/frequency/frequency.h"
#include "analysis/frequency/frequency_estimators.h"
#include "analysis/insn/insn.h"
#include "analysis/machine/machine_model.h"
#include "analysis/procedure_analysis.h"

#define ADDRESS 0x1000
#define SAMPLES 10000.0
/* Cycles of an iteration with a load from memory; tolerance of one from the nearest cache. */
#define MEMORY_CYCLES 300.0
#define CACHE_SPEED 1.25
#define ITERATIONS 1000
#define INSNS_MAX 32
#define EDGES_MAX 12

/* A loop of one block: its code, and whether each iteration loads from another cache line. */
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
	LOOP("mov (%rcx,%rdi,8), %rax; add $8, %rdi",
	     "\x48\x8b\x04\xf9\x48\x01\xc2\x48\x83\xc7\x08\x48\x39\xf7\x72\xf0", true),
	LOOP("mov (%rcx,%rdi,4), %rax; add $8, %rdi",
	     "\x48\x8b\x04\xb9\x48\x01\xc2\x48\x83\xc7\x08\x48\x39\xf7\x72\xf0", false),
	LOOP("mov (,%rdi,8), %rax; add $-16, %rdi",
	     "\x48\x8b\x04\xfd\x00\x00\x00\x00\x48\x01\xc2\x48\x83\xc7\xf0\x48\x39\xf7"
	     "\x75\xec",
	     true),
	LOOP("add $32, %rdi; mov (%rdi), %rax; add $32, %rdi",
	     "\x48\x83\xc7\x20\x48\x8b\x07\x48\x01\xc2\x48\x83\xc7\x20\x48\x39\xf7\x72\xed", true),
	/* The index stays within a small table for any increment. */
	LOOP("add $77, %rdi; and $63, %rdi; mov (%rcx,%rdi,8), %rax",
	     "\x48\x83\xc7\x4d\x48\x83\xe7\x3f\x48\x8b\x04\xf9\x48\x01\xc2\x48\x39\xf2"
	     "\x72\xec",
	     false),
	/* The loop does not wait for its stores. */
	LOOP("mov %rax, (%rsi); add $64, %rsi", "\x48\x89\x06\x48\x83\xc6\x40\x48\x39\xd6\x75\xf4",
	     false),
	/* The register that advances by lines is not the address of the load. */
	LOOP("add (%rdi), %rax; add $64, %rsi", "\x48\x03\x07\x48\x83\xc6\x40\x48\x39\xd6\x75\xf4",
	     false),
};

#define LOOPS (sizeof(loops) / sizeof(loops[0]))

/*
 * A procedure, its profile, and its estimates.
 * @samples: of the profile, by instruction; initially zero
 * @seen, @probed: storage for its edge_samples and edge_probes
 * @bound: lower bound of the cycles of one execution of the first block
 */
struct scene {
	struct cfg *cfg;
	struct cfg_facts facts;
	struct procedure_profile profile;
	double samples[INSNS_MAX];
	double seen[EDGES_MAX];
	double probed[EDGES_MAX];
	struct frequency frequency;
	double bound;
};

static void scene_begin(struct scene *scene, const char *code, size_t bytes, uint32_t blocks)
{
	*scene = (struct scene){
		.profile = {.period_cycles = 1, .calls_in = -1, .slowness = 1},
	};
	scene->profile.samples = scene->samples;
	assert_int_equal(cfg_create_from_code(&scene->cfg, &insn_x86_decoder, (const uint8_t *)code,
					      bytes, ADDRESS, NULL),
			 0);
	assert_int_equal(cfg_facts_find(&scene->facts, scene->cfg), 0);
	assert_int_equal(scene->cfg->block_count, blocks);
	assert_in_range(scene->cfg->insn_count, 3, INSNS_MAX);
	assert_in_range(scene->cfg->edge_count, 2, EDGES_MAX);
}

static void scene_sample(struct scene *scene, uint32_t block, double samples)
{
	scene->samples[scene->cfg->blocks[block].first] = samples;
	scene->profile.total += samples;
}

/* Set the samples of a one-block loop's branch: @round continue the loop, @out leave it. */
static void scene_turns(struct scene *scene, uint32_t block, double round, double out)
{
	for (uint32_t e = 0; e < scene->cfg->edge_count; e++) {
		if (scene->cfg->edges[e].from == block)
			scene->seen[e] = scene->cfg->edges[e].to == block ? round : out;
	}
	scene->profile.edge_samples = scene->seen;
}

/* Estimate the frequency of the first block. The estimates are freed by scene_end(). */
static struct frequency_estimate scene_estimate(struct scene *scene)
{
	struct frequency_input input = {
		.profile = &scene->profile,
		.cfg = scene->cfg,
		.facts = &scene->facts,
		.model = machine_model_find("x86-64"),
	};
	struct schedule schedule;

	assert_non_null(input.model);
	assert_int_equal(schedule_create(&schedule, input.model, scene->cfg, NULL), 0);
	input.schedule = &schedule;
	scene->bound = schedule.block_cycles[0];
	assert_int_equal(
		frequency_estimate(&scene->frequency, frequency_estimator_find("dcpi"), &input), 0);
	schedule_deinit(&schedule);
	return scene->frequency.blocks[0];
}

static void scene_end(struct scene *scene)
{
	frequency_deinit(&scene->frequency);
	cfg_facts_deinit(&scene->facts);
	cfg_destroy(scene->cfg);
}

/* Estimate a loop of many iterations with all samples at one instruction. */
static struct frequency_estimate estimate_loop(const struct loop *loop, double *bound)
{
	struct frequency_estimate ret;
	struct scene scene;

	scene_begin(&scene, loop->code, loop->bytes, 1);
	scene_sample(&scene, 0, SAMPLES);
	scene_turns(&scene, 0, ITERATIONS, 1);
	ret = scene_estimate(&scene);
	*bound = scene.bound;
	assert_true(*bound >= 1 && *bound < 10);
	scene_end(&scene);
	return ret;
}

/*
 * Samples of such a loop are the same whether every load misses or none does. The interval must
 * include both, with low confidence.
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

/* An iteration may cause a page fault, or only miss the TLB. */
static void test_loops_that_change_pages_may_fault(void **state)
{
	static const struct loop pages =
		LOOP("movb $1, (%rax); add $0x1000, %rax; cmp %rdx, %rax; jne",
		     "\xc6\x00\x01\x48\x05\x00\x10\x00\x00\x48\x39\xd0\x75\xf2", true);
	const double fault_cycles = 500, miss_cycles = 5;
	struct frequency_estimate estimate;
	double bound;

	(void)state;
	estimate = estimate_loop(&pages, &bound);
	if (estimate.low > SAMPLES / fault_cycles || estimate.high < SAMPLES / miss_cycles)
		fail_msg("%g (%g to %g), bound %g", estimate.value, estimate.low, estimate.high,
			 bound);
	assert_int_equal(estimate.confidence, FREQUENCY_LOW);
}

/* rep movsb; sub $1, %rdx; jne: a repeated instruction moves some bytes, or a few thousand. */
static void test_string_instructions_take_unknown_time(void **state)
{
	static const char code[] = "\xf3\xa4\x48\x83\xea\x01\x75\xf8";
	const double start_cycles = 40, copy_cycles = 1000;
	struct frequency_estimate estimate;
	struct scene scene;

	(void)state;
	scene_begin(&scene, code, sizeof(code) - 1, 1);
	scene_sample(&scene, 0, SAMPLES);
	scene_turns(&scene, 0, ITERATIONS, 1);
	estimate = scene_estimate(&scene);
	if (estimate.low > SAMPLES / copy_cycles || estimate.high < SAMPLES / start_cycles)
		fail_msg("%g (%g to %g)", estimate.value, estimate.low, estimate.high);
	assert_int_equal(estimate.confidence, FREQUENCY_LOW);
	scene_end(&scene);
}

/* @units: all of them were seen */
static struct data_extent extent_of(double units, double even, double unseen)
{
	return (struct data_extent){
		.seen = units,
		.likely = units,
		.least = units,
		.most = units,
		.unseen = unseen,
		.even = even,
	};
}

/* Data that a cache can hold does not come from memory. */
static void test_small_data_needs_no_memory(void **state)
{
	static const struct data_caches caches = {{48e3, 1e6, 32e6}, 64, 4096};
	static const double bytes[] = {8e3, 500e3, 8e6, 1e9};
	double last = INFINITY;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		struct data_footprint footprint = {
			.address = ADDRESS,
			.samples = 1e6,
			.lines = extent_of(bytes[i] / 64, bytes[i] / 64, 0.01),
			.pages = extent_of(bytes[i] / 4096, 1, 0),
		};
		const struct data_footprint *footprints[INSNS_MAX] = {&footprint};
		struct frequency_estimate estimate;
		struct scene scene;

		scene_begin(&scene, loops[0].code, loops[0].bytes, 1);
		scene_sample(&scene, 0, SAMPLES);
		scene_turns(&scene, 0, ITERATIONS, 1);
		scene.profile.footprints = footprints;
		scene.profile.caches = caches;
		estimate = scene_estimate(&scene);
		scene.profile.footprints = NULL;
		if (i == 0)
			assert_true(fabs(log(estimate.value * scene.bound / SAMPLES)) <
				    log(CACHE_SPEED));
		/* The larger the data, the longer an iteration may take. */
		assert_true(estimate.high >= SAMPLES / scene.bound);
		assert_true(estimate.value < last);
		last = estimate.value;
		scene_end(&scene);
	}
}

/* If at most a fifth of the accesses is to unknown lines, an iteration takes no longer than that.
 */
static void test_few_unseen_lines_bound_the_wait(void **state)
{
	static const struct data_caches caches = {{48e3, 1e6, 32e6}, 64, 4096};
	struct frequency_estimate estimates[2];
	struct scene scene;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct data_footprint footprint = {
			.address = ADDRESS,
			.samples = 100,
			.lines = extent_of(100, 100, i == 0 ? 0.2 : 1),
			.pages = extent_of(2, 1, 0),
		};
		const struct data_footprint *footprints[INSNS_MAX] = {&footprint};

		scene_begin(&scene, loops[0].code, loops[0].bytes, 1);
		scene_sample(&scene, 0, SAMPLES);
		scene_turns(&scene, 0, ITERATIONS, 1);
		scene.profile.footprints = footprints;
		scene.profile.caches = caches;
		estimates[i] = scene_estimate(&scene);
		scene.profile.footprints = NULL;
		scene_end(&scene);
	}
	assert_true(estimates[0].low > estimates[1].low * 1.5);
	assert_true(estimates[0].value > estimates[1].value * 1.5);
	assert_true(estimates[0].high >= SAMPLES / scene.bound);
	assert_true(estimates[1].low < SAMPLES / MEMORY_CYCLES);
}

/* The other loops run at their bound, within the tolerance. */
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

/* Sampled directions of a loop suggest 11 iterations, but its code implies 100. */
static void test_turns_are_what_the_code_says(void **state)
{
	static const char code[] = "\x31\xc0"	  /* xor %eax,%eax */
				   "\x83\xc0\x01" /* add $1,%eax */
				   "\x83\xf8\x64" /* cmp $100,%eax */
				   "\x75\xf8"	  /* jne back to the add */
				   "\xc3";
	struct scene scene;

	(void)state;
	scene_begin(&scene, code, sizeof(code) - 1, 3);
	scene_sample(&scene, 0, 300);
	scene_sample(&scene, 1, 3000);
	scene_turns(&scene, 1, 1000, 100);
	scene_estimate(&scene);
	assert_true(fabs(scene.frequency.blocks[1].value / scene.frequency.blocks[0].value / 100 -
			 1) < 1e-3);
	assert_true(fabs(scene.frequency.blocks[2].value / scene.frequency.blocks[0].value - 1) <
		    1e-3);
	scene_end(&scene);
}

/* The trip count is also used in order, when code around the loop waits. */
static void test_turns_are_known_in_order(void **state)
{
	static const uint32_t code[] = {
		0x52800c80, /* mov w0, #100 */
		0x71000400, /* subs w0, w0, #1 */
		0x54ffffe1, /* b.ne back to the subs */
		0xd65f03c0, /* ret */
	};
	double samples[4];
	struct procedure_profile profile = {
		.samples = samples, .period_cycles = 1, .calls_in = -1, .slowness = 1};
	struct frequency_input input = {.profile = &profile,
					.model = machine_model_find("cortex-a53")};
	struct cfg_facts facts;
	struct frequency_classes classes;
	struct frequency frequency;
	struct schedule schedule;
	struct cfg *cfg = NULL;

	(void)state;
	assert_int_equal(cfg_create_from_code(&cfg, &insn_arm64_decoder, (const uint8_t *)code,
					      sizeof(code), ADDRESS, NULL),
			 0);
	assert_int_equal(schedule_create(&schedule, input.model, cfg, NULL), 0);
	assert_int_equal(cfg_facts_find(&facts, cfg), 0);
	assert_int_equal(frequency_classes_find(&classes, cfg), 0);
	for (uint32_t i = 0; i < 4; i++) {
		samples[i] =
			schedule.insns[i].min_cycles * (i == 1 || i == 2 ? SAMPLES : SAMPLES / 10);
		profile.total += samples[i];
	}
	input.cfg = cfg;
	input.facts = &facts;
	input.schedule = &schedule;
	input.classes = &classes;
	assert_int_equal(frequency_estimate(&frequency, frequency_estimator_find("dcpi"), &input),
			 0);
	/* Marginals: each value is the median of its own distribution. */
	assert_true(fabs(frequency.blocks[1].value / SAMPLES - 1) < 0.1);
	assert_true(fabs(frequency.blocks[0].value / SAMPLES * 100 - 1) < 0.2);
	frequency_deinit(&frequency);
	frequency_classes_deinit(&classes);
	cfg_facts_deinit(&facts);
	schedule_deinit(&schedule);
	cfg_destroy(cfg);
}

#define PAIRS 100

/* Free the analysis, apart from its profile. Return: the estimate of the first block. */
static struct frequency_estimate in_order_end(struct procedure_analysis *analysis)
{
	struct frequency_estimate ret = analysis->frequency.blocks[0];

	analysis->profile = (struct procedure_profile){.total = 0};
	procedure_analysis_deinit(analysis);
	return ret;
}

/* Clock a loop of an emulated or unknown processor, with the model of another one. */
static struct frequency_estimate estimate_in_order(double period_cycles)
{
	static const uint32_t code[] = {
		0xf1000400, /* subs x0, x0, #1 */
		0xf9400021, /* ldr x1, [x1] */
		0x54ffffc1, /* b.ne back to the subs */
		0xd65f03c0, /* ret */
	};
	double samples[4] = {0, 0, SAMPLES, 0};
	struct register_change change = {0, -500};
	struct profile_pair pairs[PAIRS];
	struct procedure_profile profile = {.samples = samples,
					    .total = SAMPLES,
					    .period_cycles = period_cycles,
					    .calls_in = -1,
					    .slowness = 1,
					    .pairs = pairs,
					    .pair_count = PAIRS};
	struct procedure_analysis analysis = {.model = machine_model_find("cortex-a53"),
					      .profile = profile};

	for (int i = 0; i < PAIRS; i++)
		pairs[i] = (struct profile_pair){{1, 1}, 1, SAMPLES / PAIRS, &change, 1, false};
	assert_int_equal(cfg_create_from_code(&analysis.cfg, &insn_arm64_decoder,
					      (const uint8_t *)code, sizeof(code), ADDRESS, NULL),
			 0);
	assert_int_equal(procedure_analysis_run(&analysis, frequency_estimator_find("dcpi")), 0);
	for (uint32_t b = 0; b < analysis.cfg->block_count; b++)
		assert_true(analysis.frequency.blocks[b].value <=
			    analysis.frequency.blocks[0].value * 1.01);
	return in_order_end(&analysis);
}

/* The clock wins over the time, however fast or slow the processor is. */
static void test_clocks_win_in_order(void **state)
{
	(void)state;
	for (double period = 1; period < 1e7; period *= 10) {
		struct frequency_estimate estimate = estimate_in_order(period);
		double truth = 500 * SAMPLES / period;

		if (!estimate.measured || fabs(estimate.value / truth - 1) > 0.05 ||
		    estimate.low > truth || estimate.high < truth ||
		    estimate.high > 1.3 * estimate.low)
			fail_msg("%g (%g to %g) and not %g", estimate.value, estimate.low,
				 estimate.high, truth);
	}
}

/* Check that the interval contains @executions with a small margin. */
static void assert_measured(const struct frequency_estimate *estimate, double executions)
{
	if (fabs(estimate->value / executions - 1) > 0.02 || estimate->low > executions * 0.9 ||
	    estimate->low < executions * 0.75 || estimate->high < executions * 1.1 ||
	    estimate->high > executions * 1.3)
		fail_msg("%g (%g to %g), and not %g", estimate->value, estimate->low,
			 estimate->high, executions);
}

/*
 * A loop that takes all samples, for a second by a clock. The time between executions of its branch
 * determines the frequency, for any bound of its code.
 */
static void test_gaps_say_how_often_a_loop_ran(void **state)
{
	double gaps[INSNS_MAX] = {0}, gap_samples[INSNS_MAX] = {0}, gap_variance[INSNS_MAX] = {0};

	(void)state;
	for (size_t i = 0; i < LOOPS; i++) {
		struct frequency_estimate estimate;
		struct scene scene;
		uint32_t branch;

		scene_begin(&scene, loops[i].code, loops[i].bytes, 1);
		scene_sample(&scene, 0, SAMPLES);
		scene_turns(&scene, 0, ITERATIONS, 1);
		branch = scene.cfg->insn_count - 1;
		gaps[branch] = ITERATIONS;
		gap_samples[branch] = ITERATIONS * 40;
		scene.profile.gaps = gaps;
		scene.profile.gap_samples = gap_samples;
		scene.profile.gap_variance = gap_variance;
		scene.profile.clock_ns = 1e9 / SAMPLES;
		scene.profile.all = SAMPLES;
		estimate = scene_estimate(&scene);
		assert_measured(&estimate, SAMPLES / 40);
		gaps[branch] = 0;
		scene_end(&scene);
	}
}

/* Set the sampled directions of the branch at the end of a block. */
static void scene_directions(struct scene *scene, uint32_t block, double taken, double not_taken)
{
	for (uint32_t e = 0; e < scene->cfg->edge_count; e++) {
		if (scene->cfg->edges[e].from == block)
			scene->seen[e] =
				scene->cfg->edges[e].kind == CFG_EDGE_TAKEN ? taken : not_taken;
	}
	scene->profile.edge_samples = scene->seen;
}

/*
 * An outer loop with a clock; the inner loop has 10 iterations by its directions. All blocks take a
 * third of the time that is predicted. That does not reduce the iterations.
 */
static void test_fast_procedures_keep_trip_counts(void **state)
{
	static const char code[] = "\x48\x83\xc7\x08" /* 1: add $8,%rdi */
				   "\x48\x01\xd3"     /* 2: add %rdx,%rbx */
				   "\x78\x03"	      /* js 3f */
				   "\x48\x01\xd1"     /* add %rdx,%rcx */
				   "\x48\x85\xdb"     /* 3: test %rbx,%rbx */
				   "\x75\xf3"	      /* jne 2b */
				   "\x48\x39\xf7"     /* cmp %rsi,%rdi */
				   "\x75\xea"	      /* jne 1b */
				   "\xc3";
	static const double parts[] = {0.05, 0.4, 0.1, 0.4, 0.05};
	struct register_change change = {7, 8 * ITERATIONS};
	struct profile_pair pairs[PAIRS];
	struct frequency_estimate outer, inner;
	struct scene scene;

	(void)state;
	scene_begin(&scene, code, sizeof(code) - 1, 6);
	for (uint32_t b = 0; b < 5; b++)
		scene_sample(&scene, b, parts[b] * SAMPLES);
	scene_directions(&scene, 1, 10, 10);
	scene_directions(&scene, 3, 18, 2);
	scene_directions(&scene, 4, 100, 0);
	for (int i = 0; i < PAIRS; i++)
		pairs[i] = (struct profile_pair){{1, 1}, 1, SAMPLES / PAIRS, &change, 1, false};
	scene.profile.pairs = pairs;
	scene.profile.pair_count = PAIRS;
	scene.profile.period_cycles = 20.0 * ITERATIONS;
	outer = scene_estimate(&scene);
	inner = scene.frequency.blocks[1];
	assert_true(fabs(outer.value * 20 / SAMPLES - 1) < 0.05);
	assert_true(inner.value > 7.5 * outer.value && inner.value < 13 * outer.value);
	assert_true(inner.low < 10 * outer.value && inner.high > 10 * outer.value);
	scene_end(&scene);
}

/* Code at full issue width takes a quarter of the average time. Slow code has blocks that wait. */
static void test_interval_includes_full_issue_width(void **state)
{
	/* add %rdx,%rax, six times; js over the next; add %rdx,%rcx; ret */
	static const char code[] = "\x48\x01\xd0\x48\x01\xd0\x48\x01\xd0\x48\x01\xd0\x48\x01\xd0"
				   "\x48\x01\xd0\x78\x03\x48\x01\xd1\xc3";
	struct frequency_estimate estimate;
	struct scene scene;

	(void)state;
	scene_begin(&scene, code, sizeof(code) - 1, 3);
	scene_sample(&scene, 0, SAMPLES);
	estimate = scene_estimate(&scene);
	assert_true(estimate.high >= 4 * estimate.value);
	assert_true(estimate.high / estimate.value > estimate.value / estimate.low);
	assert_false(estimate.measured);
	scene_end(&scene);
}

/*
 * Two loops, 1: dec %eax; jne 1b; 2: dec %ecx; jne 2b; ret, with equal times. Counted over whole
 * periods of the second branch, the first was executed a thousand times as often.
 */
static void test_rounds_tell_of_loops(void **state)
{
	static const char code[] = "\xff\xc8\x75\xfc\xff\xc9\x75\xfc\xc3";
	struct profile_reference round = {.insns = {1, 3}, .executions = {50000, 50}};
	double ratio[2];

	(void)state;
	for (int known = 0; known < 2; known++) {
		struct scene scene;

		scene_begin(&scene, code, sizeof(code) - 1, 3);
		scene_sample(&scene, 0, SAMPLES);
		scene_sample(&scene, 1, SAMPLES);
		scene.profile.references = &round;
		scene.profile.reference_count = (size_t)known;
		scene_estimate(&scene);
		ratio[known] = scene.frequency.blocks[0].value / scene.frequency.blocks[1].value;
		scene_end(&scene);
	}
	assert_true(ratio[0] < 10);
	assert_true(ratio[1] > 900 && ratio[1] < 1100);
}

/*
 * Estimate a block that waits, followed by one of equal frequency with a hundredth of the samples.
 */
static double estimate_behind(const char *code, size_t bytes)
{
	struct scene scene;
	double ret;

	scene_begin(&scene, code, bytes, 2);
	scene_sample(&scene, 0, SAMPLES);
	scene_sample(&scene, 1, SAMPLES / 100);
	ret = scene_estimate(&scene).value;
	scene_end(&scene);
	return ret;
}

/*
 * A short block may have few samples because it executes while older instructions wait. A long one
 * has few because it is rarely executed.
 */
static void test_few_samples_tell_more_of_long_blocks(void **state)
{
	static const char begin[] = "\x48\x8b\x03\x48\x85\xc0\x75\x00", /* jne to the next one */
		add[] = "\x48\x01\xd1", end = '\xc3';
	char brief[sizeof(begin) + sizeof(add)], extended[sizeof(begin) + 20 * sizeof(add)];
	size_t bytes = sizeof(begin) - 1;
	double after_short, after_long;

	(void)state;
	memcpy(brief, begin, bytes);
	brief[bytes] = end;
	after_short = estimate_behind(brief, bytes + 1);
	memcpy(extended, begin, bytes);
	for (int i = 0; i < 20; i++, bytes += sizeof(add) - 1)
		memcpy(extended + bytes, add, sizeof(add) - 1);
	extended[bytes] = end;
	after_long = estimate_behind(extended, bytes + 1);
	if (!(after_long < after_short / 5))
		fail_msg("%g behind a short block, %g behind a long one", after_short, after_long);
}

/*
 * Estimate a long block, followed by ten iterations of a loop with that many samples and a return.
 */
static double estimate_before_loop(double loop_samples)
{
	static const char add[] = "\x48\x01\xd1",
			  loop[] = "\x48\x83\xc6\x08\x48\x39\xd6\x75\xf7\xc3";
	char code[20 * (sizeof(add) - 1) + sizeof(loop) - 1];
	struct scene scene;
	size_t bytes = 0;
	double ret;

	for (; bytes < 20 * (sizeof(add) - 1); bytes += sizeof(add) - 1)
		memcpy(code + bytes, add, sizeof(add) - 1);
	memcpy(code + bytes, loop, sizeof(loop) - 1);
	scene_begin(&scene, code, sizeof(code), 3);
	scene_sample(&scene, 0, SAMPLES);
	scene_sample(&scene, 1, loop_samples);
	scene_turns(&scene, 1, 900, 100);
	ret = scene_estimate(&scene).value;
	scene_end(&scene);
	return ret;
}

/* The bound of a loop is its minimal time: a loop that takes a hundred times as long waits. */
static void test_loops_may_wait(void **state)
{
	double plain = estimate_before_loop(SAMPLES), waiting = estimate_before_loop(100 * SAMPLES);

	(void)state;
	if (!(waiting < 50 * plain))
		fail_msg("%g executions, %g if the loop waits", plain, waiting);
}

/*
 * Estimate two blocks of equal frequency. The first one enables interrupts, and has a hundred times
 * the samples of the second one at the second instruction after that.
 */
static double estimate_enabling(bool maskable)
{
	static const char begin[] = "\xfb\x90\x48\x8b\x03\x48\x85\xc0\x75\x00", /* sti; nop */
		add[] = "\x48\x01\xd1";
	char code[sizeof(begin) + 20 * sizeof(add)];
	size_t bytes = sizeof(begin) - 1;
	struct scene scene;
	double ret;

	memcpy(code, begin, bytes);
	for (int i = 0; i < 20; i++, bytes += sizeof(add) - 1)
		memcpy(code + bytes, add, sizeof(add) - 1);
	code[bytes++] = '\xc3';
	scene_begin(&scene, code, bytes, 2);
	scene.profile.maskable = maskable;
	scene.samples[2] = 100 * SAMPLES;
	scene.profile.total = 100 * SAMPLES;
	scene_sample(&scene, 1, SAMPLES);
	ret = scene_estimate(&scene).value;
	scene_end(&scene);
	return ret;
}

/* Samples that were delayed while interrupts were disabled are weak evidence of the frequency. */
static void test_delayed_samples_are_weak(void **state)
{
	double plain = estimate_enabling(false), delayed = estimate_enabling(true);

	(void)state;
	if (!(delayed < 0.5 * plain))
		fail_msg("%g executions, %g if samples are delayed", plain, delayed);
}

/* Return the share of a waiting block's executions in which its branch is not taken. */
static double part_not_taken(const double *behind_samples, const double *probes)
{
	/* mov (%rbx), %rax; test %rax, %rax; jne over the add; add %rdx, %rcx; ret */
	static const char code[] = "\x48\x8b\x03\x48\x85\xc0\x75\x03\x48\x01\xd1\xc3";
	struct frequency_estimate first;
	struct scene scene;
	double ret = -1;

	scene_begin(&scene, code, sizeof(code) - 1, 3);
	scene_sample(&scene, 0, SAMPLES);
	scene_sample(&scene, 1, SAMPLES / 20);
	scene_sample(&scene, 2, SAMPLES / 20);
	for (uint32_t e = 0; e < scene.cfg->edge_count; e++) {
		if (scene.cfg->edges[e].from != 0)
			continue;
		scene.seen[e] = behind_samples[scene.cfg->edges[e].to == 2];
		scene.probed[e] = probes[scene.cfg->edges[e].to == 2];
	}
	scene.profile.edge_samples = scene.seen;
	scene.profile.edge_probes = scene.probed;
	first = scene_estimate(&scene);
	for (uint32_t e = 0; e < scene.cfg->edge_count; e++) {
		if (scene.cfg->edges[e].from == 0 && scene.cfg->edges[e].to == 1)
			ret = scene.frequency.edges[e].value / first.value;
	}
	scene_end(&scene);
	return ret;
}

/* Nine in ten samples follow one direction because the block waits then; its share is a third. */
static void test_probes_are_believed(void **state)
{
	double samples[] = {900, 100}, probes[] = {700, 1400}, few[] = {2, 4}, none[] = {0, 0};
	double alone = part_not_taken(samples, none), with = part_not_taken(samples, probes);

	(void)state;
	assert_true(alone > 0.7);
	if (fabs(with - 1.0 / 3) > 0.03)
		fail_msg("%g not taken, by samples %g", with, alone);
	/* Few probes are not significant. */
	assert_float_equal(part_not_taken(samples, few), alone, 1e-9);
	/* Without sampled directions, those of probes are used. */
	assert_true(fabs(part_not_taken(none, probes) - 1.0 / 3) < 0.03);
}

/*
 * mov (%rbx), %rax; test %rax, %rax; je to the end; ret; ud2: few samples after a branch are not
 * significant, but one direction is a failed check.
 */
static void test_failed_checks_are_seldom(void **state)
{
	static const char code[] = "\x48\x8b\x03\x48\x85\xc0\x74\x01\xc3\x0f\x0b";
	const struct frequency_estimate *blocks;
	struct scene scene;

	(void)state;
	scene_begin(&scene, code, sizeof(code) - 1, 3);
	scene_sample(&scene, 0, SAMPLES);
	scene_estimate(&scene);
	blocks = scene.frequency.blocks;
	if (blocks[2].value > 0.05 * blocks[1].value)
		fail_msg("%g failed, %g not", blocks[2].value, blocks[1].value);
	scene_end(&scene);
}

/*
 * test %rdi, %rdi; je to the end; sub $1, %rdi; jne to itself; ret: the entry of the procedure has
 * no samples, but its executions were counted. That is the certainty of the procedure's scale.
 */
static void test_counted_calls_are_the_scale(void **state)
{
	static const char code[] = "\x48\x85\xff\x74\x06\x48\x83\xef\x01\x75\xfa\xc3";
	const double calls = 50, spread = 0.08;
	struct frequency_flow_scale scale;
	struct scene scene;

	(void)state;
	scene_begin(&scene, code, sizeof(code) - 1, 3);
	scene.profile.calls_in = calls;
	scene.profile.calls_in_weight = 1 / (spread * spread);
	scene.profile.calls_measured = true;
	scene_sample(&scene, 1, SAMPLES);
	assert_true(fabs(log(scene_estimate(&scene).value / calls)) < 2 * spread);
	scale = frequency_flow_scale(&scene.frequency, scene.cfg);
	assert_true(scale.measured);
	assert_true(scale.spread > 0 && scale.spread < 2 * spread);
	/* All but few executions of the branch around the loop enter it. */
	assert_true(scene.frequency.blocks[1].value > calls);
	scene_end(&scene);
}

/*
 * xor %eax,%eax; 1: test %edx,%edx; js 2f; add $1,%eax; cmp $7,%eax; jne 1b; ret; 2: neg %edx;
 * add $1,%eax; cmp $7,%eax; je 3f; jmp 1b; 3: ret.
 *
 * Each entry of the loop has 7 iterations, of unknown kinds.
 */
static void test_copied_ends_share_the_trip_count(void **state)
{
	static const char code[] = "\x31\xc0\x85\xd2\x78\x09\x83\xc0\x01\x83\xf8\x07\x75\xf4\xc3"
				   "\xf7\xda\x83\xc0\x01\x83\xf8\x07\x74\x02\xeb\xe7\xc3";
	const double calls = 50, spread = 0.05;
	const struct frequency_estimate *blocks;
	struct scene scene;

	(void)state;
	scene_begin(&scene, code, sizeof(code) - 1, 7);
	scene.profile.calls_in = calls;
	scene.profile.calls_in_weight = 1 / (spread * spread);
	scene.profile.calls_measured = true;
	scene_sample(&scene, 2, SAMPLES);
	scene_sample(&scene, 4, SAMPLES);
	scene_estimate(&scene);
	blocks = scene.frequency.blocks;
	assert_true(fabs(log(blocks[1].value / blocks[0].value / 7)) < 0.02);
	assert_true(fabs(log((blocks[2].value + blocks[4].value) / blocks[1].value)) < 0.02);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counted_calls_are_the_scale),
		cmocka_unit_test(test_failed_checks_are_seldom),
		cmocka_unit_test(test_probes_are_believed),
		cmocka_unit_test(test_clocks_win_in_order),
		cmocka_unit_test(test_small_data_needs_no_memory),
		cmocka_unit_test(test_few_unseen_lines_bound_the_wait),
		cmocka_unit_test(test_loops_that_change_lines_may_wait_for_memory),
		cmocka_unit_test(test_loops_that_change_pages_may_fault),
		cmocka_unit_test(test_string_instructions_take_unknown_time),
		cmocka_unit_test(test_other_loops_run_at_their_bound),
		cmocka_unit_test(test_turns_are_what_the_code_says),
		cmocka_unit_test(test_copied_ends_share_the_trip_count),
		cmocka_unit_test(test_turns_are_known_in_order),
		cmocka_unit_test(test_gaps_say_how_often_a_loop_ran),
		cmocka_unit_test(test_fast_procedures_keep_trip_counts),
		cmocka_unit_test(test_interval_includes_full_issue_width),
		cmocka_unit_test(test_rounds_tell_of_loops),
		cmocka_unit_test(test_few_samples_tell_more_of_long_blocks),
		cmocka_unit_test(test_loops_may_wait),
		cmocka_unit_test(test_delayed_samples_are_weak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
