// SPDX-License-Identifier: GPL-2.0-only
/* The bound of dcpiopt: taken branches that a layout can remove, and the sum of the causes. */
#include "tests/lib/unit.h"

#include "tests/fixtures/culprit_scene.h"
#include "tools/opt/layout_bound.h"

/* A layout can remove only the more frequent one of two taken branches into a block. */
static void test_taken_branches(void **state)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 3}, {0, 1}, {1, 3},	       {1, 2},
		{2, 3},		{3, 0}, {3, 4}, {4, CFG_EXIT},
	};
	struct layout_bound bound = {.taken = 0};
	struct procedure_analysis analysis = {.index = 0};
	struct culprit_scene scene;

	(void)state;
	culprit_scene_init(&scene, NULL, 5, edges, sizeof(edges) / sizeof(*edges));
	culprit_scene_edge(&scene, 0, 3, 60);
	culprit_scene_edge(&scene, 0, 1, 40);
	culprit_scene_edge(&scene, 1, 3, 30);
	culprit_scene_edge(&scene, 1, 2, 10);
	culprit_scene_edge(&scene, 2, 3, 10);
	culprit_scene_edge(&scene, 3, 0, 90);
	culprit_scene_edge(&scene, 3, 4, 10);
	culprit_scene_look(&scene);
	analysis.cfg = scene.cfg;
	analysis.model = &scene.model;
	analysis.schedule = scene.schedule;
	analysis.profile = scene.profile;
	analysis.frequency = scene.frequency;
	analysis.culprits = scene.culprits;
	assert_int_equal(layout_bound_add(&bound, NULL, &analysis), 0);
	assert_float_equal(bound.taken, 180 * scene.profile.period_cycles, 1e-6);
	assert_float_equal(bound.removable, 150 * scene.profile.period_cycles, 1e-6);
	assert_float_equal(bound.sum.tallied, scene.profile.total, 1e-6);
	/* Another procedure adds to it. */
	assert_int_equal(layout_bound_add(&bound, NULL, &analysis), 0);
	assert_float_equal(bound.removable, 300 * scene.profile.period_cycles, 1e-6);
	culprit_scene_deinit(&scene);
}

/* 300 removable branches of 2 cycles each are 10 samples of 60 cycles. */
static struct layout_bound example(void)
{
	struct layout_bound bound = {.taken = 400, .removable = 300};

	bound.sum.high[CULPRIT_ICACHE] = 4;
	bound.sum.high[CULPRIT_ITB] = 1;
	bound.sum.high[CULPRIT_BRANCH] = 3;
	bound.sum.high[CULPRIT_UNEXPLAINED] = 2;
	bound.sum.high[CULPRIT_DCACHE] = 1000;
	bound.sum.dynamic = 50;
	bound.sum.sampling_error = -2;
	bound.sum.tallied = 80;
	return bound;
}

/* Stalls 4 + 1 + 3 + 2, error 2, branches 10, samples that were not analysed 100 - 80. */
static void test_sum(void **state)
{
	struct layout_bound bound = example();

	(void)state;
	assert_float_equal(layout_bound_samples(&bound, 100, 60), 42, 1e-9);
}

/* All causes together cannot exceed the dynamic stalls: 5, and the error. */
static void test_dynamic_stalls_limit(void **state)
{
	struct layout_bound bound = example();

	(void)state;
	bound.sum.dynamic = 5;
	assert_float_equal(layout_bound_samples(&bound, 100, 60), 39, 1e-9);
	bound.sum.dynamic = -5;
	assert_float_equal(layout_bound_samples(&bound, 100, 60), 34, 1e-9);
}

static void test_all_samples_limit(void **state)
{
	struct layout_bound bound = example();

	(void)state;
	bound.removable = 1e9;
	assert_float_equal(layout_bound_samples(&bound, 100, 60), 100, 1e-9);
	/* Without a period, nothing is known about branches. */
	bound.removable = 0;
	assert_float_equal(layout_bound_samples(&bound, 100, 0), 100, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken_branches),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_dynamic_stalls_limit),
		cmocka_unit_test(test_all_samples_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
