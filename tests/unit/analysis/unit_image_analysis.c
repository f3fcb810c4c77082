// SPDX-License-Identifier: GPL-2.0-only
/* Analysis of the test's own executable, with generated samples. */
#include "analysis/graph/cfg_create.h"
#include "tests/lib/unit.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/frequency/estimate_cache.h"
#include "analysis/image_analysis.h"
#include "analysis/image_calls.h"
#include "analysis/kernel_counts.h"
#include "analysis/program_calls.h"
#include "lib/error.h"
#include "tests/fixtures/made_up_samples.h"
#include "tests/fixtures/self_image.h"

/* Two procedures with known names and calls. */
static __attribute__((noinline, used)) unsigned int image_test_callee(unsigned int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3;
}

static __attribute__((noinline, used)) unsigned int image_test_caller(unsigned int n)
{
	unsigned int sum = 0;

	while (n-- > 0)
		sum += image_test_callee(sum) + image_test_callee(n);
	return sum;
}

/* A procedure inside another one, as in assembly files. */
__asm__(".text\n"
	".type image_test_outer, %function\n"
	"image_test_outer:\n"
	"nop\n"
	"nop\n"
	".type image_test_inner, %function\n"
	"image_test_inner:\n"
	"nop\n"
	"ret\n"
	".size image_test_inner, .-image_test_inner\n"
	"nop\n"
	"ret\n"
	".size image_test_outer, .-image_test_outer\n");

static size_t find_procedure(const char *name)
{
	const struct procedure_table *table = image_code_procedures(self);

	for (size_t i = 0; i < procedure_table_count(table); i++)
		if (strcmp(procedure_table_get(table, i)->name, name) == 0)
			return i;
	fail_msg("no procedure %s", name);
	return 0;
}

/*
 * Results of a run, sufficient to distinguish two runs.
 * @frequencies, @dynamic: sums of logarithms over blocks and instructions; with contradictory
 *               samples one of them may be larger than all others together
 */
struct tally {
	size_t count;
	size_t last;
	size_t stop_behind;
	size_t blocks;
	double frequencies;
	double samples;
	double dynamic;
	size_t culprits;
};

static int take(void *ctx, const struct procedure_analysis *analysis)
{
	struct tally *tally = ctx;
	struct culprit_input input = procedure_analysis_input(analysis);

	assert_true(tally->count == 0 || analysis->index > tally->last);
	assert_ptr_equal(input.cfg, analysis->cfg);
	assert_non_null(analysis->culprits.insns);
	assert_non_null(analysis->profile.roles[PROFILE_ROLE_DMISS].samples);
	tally->blocks += analysis->cfg->block_count;
	for (uint32_t b = 0; b < analysis->cfg->block_count; b++)
		tally->frequencies += log1p(analysis->frequency.blocks[b].value);
	for (uint32_t i = 0; i < analysis->cfg->insn_count; i++)
		tally->dynamic += log1p(analysis->culprits.insns[i].dynamic_cycles);
	tally->samples += analysis->profile.total;
	tally->culprits += analysis->culprits.count;
	tally->last = analysis->index;
	tally->count++;
	return tally->count == tally->stop_behind ? 17 : 0;
}

static double total_time(const struct image_samples *samples)
{
	double sum = 0;

	for (size_t i = 0; i < samples->time.count; i++)
		sum += samples->time.counts[i].count;
	return sum;
}

static void test_threads_change_nothing(void **state)
{
	struct made_up made_up;
	struct image_analysis_totals totals;
	struct tally first = {0};
	struct error err;

	(void)state;
	make_up(&made_up, self, 3);
	for (unsigned int threads = 0; threads < 4; threads++) {
		struct image_analysis_options options = {.threads = threads, .tie_calls = true};
		struct tally tally = {0};

		assert_int_equal(image_analysis_run(self, &made_up.samples, &options, take, &tally,
						    &totals, &err),
				 0);
		assert_true(tally.count > 20 && tally.count == totals.procedures);
		assert_float_equal(totals.samples, tally.samples, 1e-6);
		assert_float_equal(totals.samples + totals.samples_outside,
				   total_time(&made_up.samples), 1e-6);
		if (threads == 0)
			first = tally;
		assert_memory_equal(&first, &tally, sizeof(tally));
	}
	forget(&made_up);
}

/* Cached estimates give the same results as estimates made again. */
static void test_caching_changes_nothing(void **state)
{
	struct frequency_estimator anew = *frequency_estimator_find(NULL);
	struct image_analysis_options options = {.tie_calls = true};
	struct tally kept = {0}, tally = {0};
	struct made_up made_up;
	struct error err;

	(void)state;
	make_up(&made_up, self, 3);
	assert_int_equal(
		image_analysis_run(self, &made_up.samples, &options, take, &kept, NULL, &err), 0);
	anew.by_flow = false;
	options.estimator = &anew;
	assert_int_equal(
		image_analysis_run(self, &made_up.samples, &options, take, &tally, NULL, &err), 0);
	assert_true(kept.count > 20 && kept.frequencies > 0);
	assert_int_equal(kept.count, tally.count);
	/* 1% on average. */
	assert_float_equal(kept.frequencies, tally.frequencies, (double)tally.blocks / 100);
	assert_float_equal(kept.dynamic, tally.dynamic, tally.dynamic / 100);
	forget(&made_up);
}

static void test_scopes(void **state)
{
	size_t callee = find_procedure("image_test_callee");
	size_t caller = find_procedure("image_test_caller");
	size_t chosen[] = {callee, callee, caller};
	struct image_analysis_options options = {.scope = IMAGE_ANALYSIS_ALL};
	struct image_analysis_totals all, sampled;
	struct tally tally = {0};
	struct made_up made_up;
	struct error err;

	(void)state;
	make_up(&made_up, self, 5);
	assert_int_equal(
		image_analysis_run(self, &made_up.samples, &options, take, &tally, &all, &err), 0);
	options.scope = IMAGE_ANALYSIS_SAMPLED;
	tally = (struct tally){0};
	assert_int_equal(
		image_analysis_run(self, &made_up.samples, &options, take, &tally, &sampled, &err),
		0);
	assert_true(all.procedures > sampled.procedures && sampled.procedures > 0);
	assert_float_equal(all.samples, sampled.samples, 1e-6);
	options = (struct image_analysis_options){
		.scope = IMAGE_ANALYSIS_CHOSEN, .chosen = chosen, .chosen_count = 3};
	tally = (struct tally){0};
	assert_int_equal(
		image_analysis_run(self, &made_up.samples, &options, take, &tally, NULL, &err), 0);
	assert_int_equal(tally.count, 2);
	assert_true(tally.last == (callee > caller ? callee : caller));
	forget(&made_up);
}

/* Samples of procedures with few samples are counted once, also if one is inside another one. */
static void test_few_samples_are_counted_once(void **state)
{
	const struct procedure_table *table = image_code_procedures(self);
	struct address_count counts[] = {
		{procedure_table_get(table, find_procedure("image_test_outer"))->address, 4},
		{procedure_table_get(table, find_procedure("image_test_inner"))->address, 9},
	};
	struct image_samples samples;
	struct made_up made_up;
	struct error err;

	(void)state;
	make_up(&made_up, self, 5);
	samples = made_up.samples;
	samples.time.counts = counts;
	samples.time.count = 2;
	for (double least = 1; least < 20; least++) {
		struct image_analysis_options options = {.least = least};
		struct image_analysis_totals totals = {0};
		struct tally tally = {0};

		assert_int_equal(
			image_analysis_run(self, &samples, &options, take, &tally, &totals, &err),
			0);
		assert_float_equal(totals.samples_few,
				   (least > 4 ? 4.0 : 0.0) + (least > 9 ? 9.0 : 0.0), 1e-9);
		assert_float_equal(totals.samples_few, totals.samples_outside, 1e-9);
		assert_float_equal(totals.samples_few + tally.samples, 13, 1e-9);
	}
	forget(&made_up);
}

static void test_callback_stops_analysis(void **state)
{
	struct made_up made_up;

	(void)state;
	make_up(&made_up, self, 3);
	for (unsigned int threads = 0; threads < 4; threads++) {
		struct image_analysis_options options = {.threads = threads};
		struct image_analysis_totals totals;
		struct tally tally = {.stop_behind = 5};
		struct error err;

		assert_int_equal(image_analysis_run(self, &made_up.samples, &options, take, &tally,
						    &totals, &err),
				 17);
		assert_int_equal(tally.count, 5);
		assert_int_equal(totals.procedures, 5);
	}
	forget(&made_up);
}

static void test_bad_options(void **state)
{
	size_t chosen = SIZE_MAX;
	struct image_samples samples = {.time = {.period = 1}};
	struct image_analysis_options options = {
		.scope = IMAGE_ANALYSIS_CHOSEN, .chosen = &chosen, .chosen_count = 1};
	struct tally tally = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(image_analysis_run(self, &samples, &options, take, &tally, NULL, &err),
			 -EINVAL);
	assert_true(strlen(err.message) > 0);
	options = (struct image_analysis_options){.model = machine_model_find("alpha21164")};
	assert_int_equal(image_analysis_run(self, &samples, &options, take, &tally, NULL, &err),
			 -EINVAL);
	assert_non_null(strstr(err.message, "alpha21164"));
	assert_int_equal(tally.count, 0);
}

static void set_estimates(struct frequency_estimate *estimates, uint32_t count, double value,
			  double width)
{
	for (uint32_t i = 0; i < count; i++)
		estimates[i] =
			(struct frequency_estimate){value,	    value - width,   value + width,
						    FREQUENCY_HIGH, FREQUENCY_JOINT, false};
}

/* Add a procedure with all blocks of frequency @value, on an in-order machine. */
static void add_calls(struct image_calls *calls, size_t index, double value, double width)
{
	struct procedure_analysis analysis = {
		.index = index,
		.model = machine_model_find("alpha21164"),
	};
	struct frequency *frequency = &analysis.frequency;

	assert_int_equal(cfg_create(&analysis.cfg, self, index, NULL, NULL), 0);
	frequency->blocks = allocate(analysis.cfg->block_count, sizeof(*frequency->blocks));
	frequency->edges = allocate(analysis.cfg->edge_count, sizeof(*frequency->edges));
	set_estimates(frequency->blocks, analysis.cfg->block_count, value, width);
	set_estimates(frequency->edges, analysis.cfg->edge_count, value, width);
	assert_int_equal(image_calls_add(calls, &analysis), 0);
	procedure_analysis_deinit(&analysis);
}

/* Estimates are the same after they were cached, apart from the factor. */
static void test_the_cache_keeps_all_members(void **state)
{
	struct frequency frequency = {NULL}, copy = {NULL};
	struct estimate_cache *cache;
	struct cfg *cfg;

	(void)state;
	assert_int_equal(cfg_create(&cfg, self, find_procedure("image_test_caller"), NULL, NULL),
			 0);
	assert_int_equal(frequency_allocate(&frequency, cfg), 0);
	set_estimates(frequency.blocks, cfg->block_count, 100, 20);
	set_estimates(frequency.edges, cfg->edge_count, 50, 10);
	frequency.blocks[1].measured = frequency.edges[0].measured = true;
	assert_int_equal(frequency_keep(&cache, &frequency, cfg), 0);
	assert_int_equal(frequency_from_kept(&copy, cache, cfg, 2), 0);
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		assert_float_equal(copy.blocks[b].value, 200, 0);
		assert_float_equal(copy.blocks[b].low, 160, 0);
		assert_float_equal(copy.blocks[b].high, 240, 0);
		assert_int_equal(copy.blocks[b].confidence, FREQUENCY_HIGH);
		assert_int_equal(copy.blocks[b].origin, FREQUENCY_JOINT);
		assert_int_equal(copy.blocks[b].measured, b == 1);
	}
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		assert_float_equal(copy.edges[e].value, 100, 0);
		assert_int_equal(copy.edges[e].measured, e == 0);
	}
	free(cache);
	frequency_deinit(&copy);
	frequency_deinit(&frequency);
	cfg_destroy(cfg);
}

static struct procedure_profile calls_of(double caller, double callee)
{
	struct procedure_profile profile = {.calls_in = -1};
	size_t index = find_procedure("image_test_callee");
	struct image_calls *calls;
	struct cfg *cfg;

	assert_int_equal(image_calls_create(&calls, self), 0);
	add_calls(calls, find_procedure("image_test_caller"), caller, caller / 10);
	add_calls(calls, index, callee, callee / 10);
	assert_int_equal(cfg_create(&cfg, self, index, NULL, NULL), 0);
	assert_int_equal(image_calls_apply(calls, cfg, index, &profile), 0);
	image_calls_destroy(calls);
	free(profile.derived);
	cfg_destroy(cfg);
	return profile;
}

/* Return the executions per call known from the callee. @sure: relative error of the caller */
static struct profile_derived told_by(double caller, double sure, double callee)
{
	struct procedure_profile profile = {.calls_in = -1};
	size_t index = find_procedure("image_test_caller");
	struct profile_derived ret = {0};
	struct image_calls *calls;
	struct cfg *cfg;

	assert_int_equal(image_calls_create(&calls, self), 0);
	add_calls(calls, index, caller, sure * caller);
	add_calls(calls, find_procedure("image_test_callee"), callee, callee / 100);
	assert_int_equal(cfg_create(&cfg, self, index, NULL, NULL), 0);
	assert_int_equal(image_calls_apply(calls, cfg, index, &profile), 0);
	if (profile.derived_count > 0)
		ret = profile.derived[0];
	/* Both calls are in one block. (Sanitizers add other calls.) */
	assert_in_range(profile.derived_count, 0, 1);
	image_calls_destroy(calls);
	procedure_profile_deinit(&profile);
	cfg_destroy(cfg);
	return ret;
}

/* The caller calls twice; its estimate has an error of 10%, the sum of the calls one of 7%. */
static void test_calls(void **state)
{
	(void)state;
	assert_float_equal(calls_of(1000, 2100).calls_in, 2000, 1e-9);
	assert_float_equal(calls_of(1000, 2100).calls_in_weight, 2 * 16.45 * 16.45, 1e-6);
	assert_float_equal(calls_of(1000, 10).calls_in, 2000, 1e-9);
	/* The callee must have other callers. */
	assert_true(calls_of(1000, 4000).calls_in < 0);
	assert_true(calls_of(0, 4000).calls_in < 0);
}

/* The callee's estimate is better than that of the caller, which calls twice. */
static void test_callees(void **state)
{
	(void)state;
	assert_float_equal(told_by(1000, 0.5, 1800).executions, 900, 1e-9);
	assert_float_equal(told_by(1000, 0.5, 1800).weight, 164.5 * 164.5, 1e-6);
	/*
	 * The caller's estimate is better; there must be other callers; the callee was not sampled.
	 */
	assert_float_equal(told_by(1000, 0.001, 2000).executions, 0, 0);
	assert_float_equal(told_by(1000, 0.5, 8000).executions, 0, 0);
	assert_float_equal(told_by(1000, 0.5, 0).executions, 0, 0);
}

/* Add a procedure with all blocks of frequency @value, on an out-of-order machine. */
static void add_to_program(struct program_calls *calls, const struct image_samples *samples,
			   size_t index, double value)
{
	struct procedure_analysis analysis = {.index = index, .profile.total = 1};
	struct frequency *frequency = &analysis.frequency;

	assert_int_equal(cfg_create(&analysis.cfg, self, index, NULL, NULL), 0);
	analysis.profile.samples =
		allocate(analysis.cfg->insn_count, sizeof(*analysis.profile.samples));
	frequency->blocks = allocate(analysis.cfg->block_count, sizeof(*frequency->blocks));
	frequency->edges = allocate(analysis.cfg->edge_count, sizeof(*frequency->edges));
	set_estimates(frequency->blocks, analysis.cfg->block_count, value, value / 100);
	set_estimates(frequency->edges, analysis.cfg->edge_count, value, value / 100);
	assert_int_equal(program_calls_add(calls, self, samples, &analysis, true), 0);
	procedure_analysis_deinit(&analysis);
}

/* Find the returns of the callee to each call of the caller, 20 times each, sorted by address. */
static size_t find_returns(struct branch_count *branches)
{
	const struct procedure_table *table = image_code_procedures(self);
	size_t index = find_procedure("image_test_callee"), count = 0;
	struct cfg *caller, *callee;
	uint64_t from = 0, offset;

	assert_int_equal(cfg_create(&caller, self, find_procedure("image_test_caller"), NULL, NULL),
			 0);
	assert_int_equal(cfg_create(&callee, self, index, NULL, NULL), 0);
	for (uint32_t i = 0; i < callee->insn_count; i++) {
		if (callee->insns[i].flow == INSN_FLOW_RETURN)
			from = callee->insns[i].address;
	}
	for (uint32_t i = 0; i < caller->call_count; i++) {
		const struct insn *insn = &caller->insns[caller->calls[i].insn];

		/* (Sanitizers add other calls.) */
		if (image_code_offset(self, caller->calls[i].target, &offset) < 0 ||
		    procedure_table_find(table, offset) != (long)index)
			continue;
		branches[count] = (struct branch_count){
			.from = from, .to = insn->address + insn->bytes, .count = 20};
		count++;
	}
	cfg_destroy(caller);
	cfg_destroy(callee);
	return count;
}

/* Return the factor by which the callee is faster than estimated, relative to the caller. */
static double compared(const struct image_samples *caller, const struct image_samples *callee)
{
	const struct procedure_table *table = image_code_procedures(self);
	size_t indices[] = {find_procedure("image_test_caller"),
			    find_procedure("image_test_callee")};
	struct procedure_profile profiles[2] = {{.slowness = 1}, {.slowness = 1}};
	struct program_calls *calls;

	assert_int_equal(program_calls_create(&calls), 0);
	add_to_program(calls, caller, indices[0], 1000);
	add_to_program(calls, callee, indices[1], 500);
	assert_int_equal(program_calls_solve(calls), 0);
	program_calls_apply(calls, caller->image, procedure_table_get(table, indices[0]),
			    &profiles[0]);
	program_calls_apply(calls, callee->image, procedure_table_get(table, indices[1]),
			    &profiles[1]);
	program_calls_destroy(calls);
	return profiles[0].slowness / profiles[1].slowness;
}

/*
 * The same from call stacks, as of the kernel: the callers are in another image. A caller without
 * an estimate is passed over.
 */
static void test_stacks_compare(void **state)
{
	struct branch_count branches[8];
	struct image_samples caller = {.image = 1}, callee = {.image = 2};
	size_t count = find_returns(branches);
	struct image_stack stacks[8] = {{.stacks = 0}};
	double near, far;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		uint64_t offset;

		assert_int_equal(image_code_offset(self, branches[i].to, &offset), 0);
		stacks[i] = (struct image_stack){.address = branches[i].from, .stacks = 20};
		stacks[i].callers[0] = (struct image_caller){.image = 1, .offset = offset};
	}
	assert_float_equal(compared(&caller, &callee), 1, 0.3);
	callee.stacks = stacks;
	callee.stack_count = count;
	near = compared(&caller, &callee);
	assert_true(near > 2.5 && near < 5);
	for (size_t i = 0; i < count; i++) {
		stacks[i].callers[1] = stacks[i].callers[0];
		stacks[i].callers[0] = (struct image_caller){.image = 3, .offset = 1};
	}
	far = compared(&caller, &callee);
	assert_true(far > 2.5 && far < 5);
}

static void test_kernel_counts_have_procedures(void **state)
{
	(void)state;
	assert_int_equal(kernel_counts_of("vfs_read"), 1U << KERNEL_COUNT_READS);
	assert_int_equal(kernel_counts_of("finish_task_switch.isra.0"),
			 1U << KERNEL_COUNT_SWITCHES);
	assert_int_equal(kernel_counts_of("do_sendfile"),
			 1U << KERNEL_COUNT_READS | 1U << KERNEL_COUNT_WRITES);
	assert_int_equal(kernel_counts_of("vfs_readlink"), 0);
	assert_int_equal(kernel_counts_of("vfs_rea"), 0);
}

/* The callee is called twice in 1000 iterations, but its estimate is 500 executions. */
static void test_returns_compare(void **state)
{
	struct branch_count branches[8];
	struct image_samples samples = {.image = 1, .branches = branches}, other = {.image = 2};
	double even, biased;

	(void)state;
	/* Without any return, direct calls are added up. */
	assert_true(compared(&samples, &samples) > 3);
	samples.branch_count = find_returns(branches);
	assert_int_equal(samples.branch_count, 2);
	assert_true(compared(&samples, &samples) > 3);
	assert_true(compared(&samples, &samples) < 4.5);
	/* Returns from another image: the called code has no samples and jumps on. */
	for (size_t i = 0; i < samples.branch_count; i++) {
		assert_int_equal(image_code_offset(self, branches[i].to, &branches[i].to_offset),
				 0);
		branches[i].to = UINT64_MAX;
		branches[i].to_image = 1;
	}
	other.branches = branches;
	other.branch_count = samples.branch_count;
	samples.branch_count = 0;
	assert_true(compared(&samples, &other) > 3);
	assert_true(compared(&samples, &other) < 4.5);
	/*
	 * Probed return targets are preferred to sampled ones, where one call has a tenth of the
	 * samples.
	 */
	even = compared(&samples, &other);
	branches[0].count = 4;
	branches[1].count = 36;
	biased = compared(&samples, &other);
	branches[0].probes = branches[1].probes = 1000;
	assert_true(fabs(compared(&samples, &other) - even) < fabs(biased - even) / 2);
	branches[0].probes = branches[1].probes = 0;
	/* A single return is not significant. */
	branches[0].count = branches[1].count = 1;
	assert_float_equal(compared(&samples, &other), 1, 1e-9);
}

/* Estimates are returned as added, divided by the slowness known from calls. */
static void test_estimates_are_cached(void **state)
{
	const struct procedure_table *table = image_code_procedures(self);
	size_t caller = find_procedure("image_test_caller"),
	       callee = find_procedure("image_test_callee");
	const struct procedure *procedure = procedure_table_get(table, callee);
	struct procedure_profile profile = {.slowness = 1};
	struct image_samples samples = {.image = 1};
	struct frequency frequency = {0};
	struct program_calls *calls;
	struct cfg *cfg;

	(void)state;
	assert_int_equal(program_calls_create(&calls), 0);
	add_to_program(calls, &samples, caller, 1000);
	add_to_program(calls, &samples, callee, 500);
	assert_int_equal(program_calls_solve(calls), 0);
	program_calls_apply(calls, 1, procedure, &profile);
	assert_true(profile.slowness < 0.9);
	assert_int_equal(cfg_create(&cfg, self, callee, NULL, NULL), 0);
	assert_int_equal(program_calls_estimates(calls, 2, procedure, cfg, &frequency), 0);
	assert_null(frequency.blocks);
	cfg->block_count++;
	assert_int_equal(program_calls_estimates(calls, 1, procedure, cfg, &frequency), 0);
	assert_null(frequency.blocks);
	cfg->block_count--;
	assert_int_equal(program_calls_estimates(calls, 1, procedure, cfg, &frequency), 0);
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct frequency_estimate *estimate = &frequency.blocks[b];

		assert_float_equal(estimate->value * profile.slowness, 500, 1e-3);
		assert_float_equal(estimate->low * profile.slowness, 495, 1e-3);
		assert_float_equal(estimate->high * profile.slowness, 505, 1e-3);
		assert_int_equal(estimate->confidence, FREQUENCY_HIGH);
		assert_int_equal(estimate->origin, FREQUENCY_JOINT);
	}
	assert_float_equal(frequency.edges[0].value * profile.slowness, 500, 1e-3);
	frequency_deinit(&frequency);
	cfg_destroy(cfg);
	program_calls_destroy(calls);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_change_nothing),
		cmocka_unit_test(test_the_cache_keeps_all_members),
		cmocka_unit_test(test_caching_changes_nothing),
		cmocka_unit_test(test_scopes),
		cmocka_unit_test(test_few_samples_are_counted_once),
		cmocka_unit_test(test_callback_stops_analysis),
		cmocka_unit_test(test_bad_options),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_callees),
		cmocka_unit_test(test_returns_compare),
		cmocka_unit_test(test_stacks_compare),
		cmocka_unit_test(test_kernel_counts_have_procedures),
		cmocka_unit_test(test_estimates_are_cached),
	};

	return cmocka_run_group_tests(tests, open_self, close_self);
}
