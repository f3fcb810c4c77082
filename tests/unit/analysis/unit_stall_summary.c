// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <math.h>

#include "analysis/culprit/stall_summary.h"
#include "tests/fixtures/culprit_scene.h"

#define BLOCKS_MAX 12
#define EDGES_MAX 40
#define INSNS_MAX 14

static uint32_t below(uint64_t *random, uint32_t limit)
{
	return (uint32_t)(unit_random(random) % limit);
}

static void make_random_insn(struct culprit_scene *scene, uint32_t i, uint64_t *random)
{
	static const uint8_t classes[] = {INSN_ALU,	INSN_ALU,	INSN_MULTIPLY,
					  INSN_DIVIDE,	INSN_FP_DIVIDE, INSN_ATOMIC,
					  INSN_BARRIER, INSN_SYSTEM,	INSN_FP_SQRT};
	uint8_t a = (uint8_t)below(random, 8), b = (uint8_t)(24 + below(random, 8));

	switch (below(random, 4)) {
	case 0:
		culprit_scene_load(scene, i, a, b, INT64_C(8) * below(random, 64));
		break;
	case 1:
		culprit_scene_store(scene, i, a, b, INT64_C(8) * below(random, 64));
		break;
	default:
		culprit_scene_compute(scene, i, classes[below(random, sizeof(classes))], a,
				      (uint8_t)below(random, 8));
		scene->cfg->insns[i].immediate = INT64_C(8) * below(random, 3);
	}
}

static void make_random_schedule(struct schedule_insn *insn, uint64_t *random)
{
	insn->min_cycles = below(random, 8) / 2.0;
	insn->stall_count = (uint8_t)below(random, SCHEDULE_STALLS_MAX + 1);
	for (unsigned int i = 0; i < insn->stall_count; i++)
		insn->stalls[i] = (struct static_stall){below(random, STALL_KINDS),
							below(random, 3) / 2.0, UINT32_MAX};
}

static void make_random_estimate(struct frequency_estimate *estimate, uint64_t *random)
{
	double width = below(random, 3) == 0 ? below(random, 100) / 100.0 : 0;

	estimate->value = below(random, 8) == 0 ? 0 : 1 << below(random, 12);
	estimate->low = estimate->value * (1 - width);
	estimate->high = estimate->value * (1 + width) + (width > 0.5);
}

/* Make an arbitrary scene: flow is not conserved, and schedules are impossible. */
static void make_random_scene(struct culprit_scene *scene, uint64_t *random)
{
	struct cfg_fixture_edge edges[EDGES_MAX];
	uint32_t insns[BLOCKS_MAX], blocks = 1 + below(random, BLOCKS_MAX), count = 0;

	edges[count++] = (struct cfg_fixture_edge){CFG_ENTRY, 0};
	for (uint32_t b = 0; b < blocks; b++) {
		insns[b] = 1 + below(random, INSNS_MAX);
		for (uint32_t k = below(random, 3); k > 0; k--)
			edges[count++] = (struct cfg_fixture_edge){b, below(random, blocks)};
		edges[count++] = (struct cfg_fixture_edge){b, below(random, 5) == 0 ? CFG_UNKNOWN
										    : CFG_EXIT};
	}
	if (below(random, 2) == 0)
		edges[count++] = (struct cfg_fixture_edge){CFG_UNKNOWN, below(random, blocks)};
	culprit_scene_init(scene, insns, blocks, edges, count);
	scene->model.in_order = below(random, 4) > 0;
	scene->model.skid_insns = scene->model.in_order ? 0 : below(random, 3);
	scene->input.thorough = below(random, 2) == 0;
	for (uint32_t b = 0; b < blocks; b++)
		make_random_estimate(&scene->frequency.blocks[b], random);
	for (uint32_t e = 0; e < count; e++)
		make_random_estimate(&scene->frequency.edges[e], random);
	for (uint32_t i = 0; i < scene->cfg->insn_count; i++) {
		make_random_insn(scene, i, random);
		make_random_schedule(&scene->schedule.insns[i], random);
		culprit_scene_stall(scene, i,
				    below(random, 3) == 0 ? below(random, 200)
							  : below(random, 3) - 1.0);
		if (scene->profile.samples[i] < 0)
			culprit_scene_stall(scene, i, 0);
	}
}

static void check_insn(const struct culprit_scene *scene, uint32_t i)
{
	const struct instruction_cpi *insn = &scene->culprits.insns[i];
	double unexplained = culprits_unexplained(&scene->culprits, i);
	double low = 0, high = 0, stall = insn->dynamic_cycles;
	unsigned int seen = 0;

	if (isnan(insn->cpi) || !insn->significant || stall <= 0) {
		assert_int_equal(insn->count, 0);
		assert_true(unexplained == 0);
		return;
	}
	assert_true(insn->low <= insn->cpi && insn->cpi <= insn->high);
	assert_true(insn->first + insn->count <= scene->culprits.count);
	for (uint32_t k = insn->first; k < insn->first + insn->count; k++) {
		const struct culprit *culprit = &scene->culprits.list[k];

		assert_true(culprit->cause < CULPRIT_CAUSES);
		assert_int_equal(seen >> culprit->cause & 1, 0);
		seen |= 1U << culprit->cause;
		assert_true(culprit->cycles_low >= 0);
		assert_true(culprit->cycles_low <= culprit->cycles_high);
		assert_true(culprit->cycles_high > 0);
		assert_true(culprit->cycles_high <= stall * (1 + 1e-9));
		assert_true(culprit->from == UINT32_MAX || culprit->from < scene->cfg->insn_count);
		if (k > insn->first)
			assert_true(culprit->cycles_high <= culprit[-1].cycles_high);
		low += culprit->cycles_low;
		high += culprit->cycles_high;
	}
	/* Lower bounds, upper bounds and the unexplained rest cover the stall exactly. */
	assert_true(low + unexplained <= stall * (1 + 1e-9));
	assert_true(high + unexplained >= stall * (1 - 1e-9));
	if (!scene->model.in_order)
		assert_true(low == 0);
	else if (insn->count == 1 && insn->low == insn->cpi)
		assert_float_equal(low, high, 1e-9 * stall);
}

static void check_summary(const struct stall_summary *summary)
{
	double listed_low = 0, listed_high = 0, total = summary->execution;
	double tolerance = 1e-9 * (1 + summary->samples);

	for (unsigned int kind = 0; kind < STALL_KINDS; kind++) {
		assert_true(summary->stalls[kind] >= 0);
		total += summary->stalls[kind];
	}
	assert_float_equal(total, summary->best_cycles, tolerance);
	total += summary->dynamic + summary->gain + summary->sampling_error;
	assert_float_equal(total, summary->tallied, tolerance);
	assert_true(summary->tallied <= summary->samples + tolerance);
	assert_true(summary->gain <= 0);
	for (unsigned int cause = 0; cause <= CULPRIT_CAUSES; cause++) {
		assert_true(summary->low[cause] <= summary->high[cause] + tolerance);
		listed_low += summary->low[cause];
		listed_high += summary->high[cause];
	}
	assert_true(listed_low <= summary->dynamic + tolerance);
	assert_true(listed_high >= summary->dynamic - tolerance);
}

static void test_properties(void **state)
{
	uint64_t random = 6;
	size_t explained = 0, unexplained = 0;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		struct stall_summary summary = {.gain = 0};
		struct culprit_scene scene;

		make_random_scene(&scene, &random);
		culprit_scene_look(&scene);
		for (uint32_t i = 0; i < scene.cfg->insn_count; i++)
			check_insn(&scene, i);
		stall_summary_add(&summary, &scene.input, &scene.culprits);
		check_summary(&summary);
		explained += summary.dynamic > summary.low[CULPRIT_UNEXPLAINED];
		unexplained += summary.low[CULPRIT_UNEXPLAINED] > 0;
		culprit_scene_deinit(&scene);
	}
	/* Both kinds of scenes occurred. */
	assert_true(explained > 500 && unexplained > 500);
}

/* A load that misses, with certainty: Figure 4's "27.9% to 27.9%". */
static void test_one_cause(void **state)
{
	static const struct cfg_fixture_edge edges[] = {{CFG_ENTRY, 0}, {0, CFG_EXIT}};
	static const uint32_t insns[] = {4};
	struct stall_summary summary = {.gain = 0};
	struct culprit_scene scene;

	(void)state;
	culprit_scene_init(&scene, insns, 1, edges, 2);
	culprit_scene_load(&scene, 1, 1, 2, 0);
	culprit_scene_compute(&scene, 2, INSN_ALU, 3, 1);
	scene.schedule.insns[2] = (struct schedule_insn){
		.min_cycles = 2, .stall_count = 1, .stalls = {{STALL_RA_DEPENDENCY, 1, 1}}};
	culprit_scene_stall(&scene, 2, 5);
	culprit_scene_stall(&scene, 3, -0.5);
	culprit_scene_look(&scene);
	stall_summary_add(&summary, &scene.input, &scene.culprits);
	stall_summary_add(&summary, &scene.input, &scene.culprits);
	assert_float_equal(summary.low[CULPRIT_DCACHE], 10000, 1e-6);
	assert_float_equal(summary.high[CULPRIT_DCACHE], 10000, 1e-6);
	assert_float_equal(summary.dynamic, 10000, 1e-6);
	assert_float_equal(summary.gain, -1000, 1e-6);
	assert_float_equal(summary.stalls[STALL_RA_DEPENDENCY], 2000, 1e-6);
	assert_float_equal(summary.execution, 8000, 1e-6);
	assert_float_equal(summary.tallied, 19000, 1e-6);
	assert_float_equal(summary.best_cycles / summary.instructions, 5 / 4.0, 1e-9);
	assert_float_equal(summary.actual_cycles / summary.instructions, 9.5 / 4.0, 1e-9);
	culprit_scene_deinit(&scene);
}

/*
 * Over many procedures, the sum of insignificant stalls may exceed its noise; the excess is then
 * attributed.
 */
static void test_sampling_error_is_within_its_noise(void **state)
{
	struct stall_summary sum = {.gain = 0};
	double low, high, tallied, error = 0;
	uint64_t random = 39;

	(void)state;
	for (unsigned int round = 0; round < 500; round++) {
		struct culprit_scene scene;

		make_random_scene(&scene, &random);
		scene.model.in_order = false;
		scene.input.thorough = false;
		culprit_scene_look(&scene);
		stall_summary_add(&sum, &scene.input, &scene.culprits);
		culprit_scene_deinit(&scene);
		if (round % 100 != 0)
			continue;
		error = fmax(error, fabs(sum.sampling_error) / stall_summary_noise(&sum));
		tallied = sum.tallied;
		stall_summary_settle(&sum);
		stall_summary_settle(&sum);
		check_summary(&sum);
		assert_true(fabs(sum.sampling_error) <= stall_summary_noise(&sum));
		assert_float_equal(sum.tallied, tallied, 0);
		stall_summary_cpi(&sum, &low, &high);
		assert_true(low >= sum.best_cycles / sum.instructions * (1 - 1e-9));
		assert_true(low <= high);
	}
	assert_true(error > 1);
}

/* Independent errors grow with the root of their number, common ones linearly. */
static void test_intervals_of_sums(void **state)
{
	static const struct cfg_fixture_edge edges[] = {{CFG_ENTRY, 0}, {0, CFG_EXIT}};
	static const uint32_t insns[] = {4};

	(void)state;
	for (int in_order = 0; in_order < 2; in_order++) {
		struct stall_summary one = {.gain = 0}, sum = {.gain = 0};
		struct culprit_scene scene;
		double low, high, sum_low, sum_high;

		culprit_scene_init(&scene, insns, 1, edges, 2);
		scene.model.in_order = in_order == 1;
		scene.frequency.blocks[0].low = 900;
		scene.frequency.blocks[0].high = 1100;
		for (uint32_t i = 0; i < 4; i++)
			culprit_scene_stall(&scene, i, 1);
		culprit_scene_look(&scene);
		stall_summary_add(&one, &scene.input, &scene.culprits);
		for (int i = 0; i < 100; i++)
			stall_summary_add(&sum, &scene.input, &scene.culprits);
		stall_summary_cpi(&one, &low, &high);
		stall_summary_cpi(&sum, &sum_low, &sum_high);
		assert_float_equal(low, 2 / 1.1, 1e-9);
		assert_float_equal(high, 2 / 0.9, 1e-9);
		if (in_order == 1) {
			assert_float_equal(sum_low, 2 / 1.01, 1e-9);
			assert_float_equal(sum_high, 2 / 0.99, 1e-9);
		} else {
			assert_true(sum_low > low && sum_low < 2 / 1.08);
			assert_true(sum_high < high && sum_high > 2 / 0.92);
		}
		culprit_scene_deinit(&scene);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_sampling_error_is_within_its_noise),
		cmocka_unit_test(test_intervals_of_sums),
		cmocka_unit_test(test_one_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
