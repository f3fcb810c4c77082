// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/flow_lower_bounds.h"
#include "tests/lib/unit.h"

#include "tests/fixtures/cfg_fixture.h"

#define BLOCKS_MAX 8
#define EDGES_MAX 16

struct scene {
	struct cfg *cfg;
	struct procedure_profile profile;
	double samples[BLOCKS_MAX];
	double seen[EDGES_MAX];
	double probes[EDGES_MAX];
	struct frequency_estimate blocks[BLOCKS_MAX];
	struct frequency_estimate edges[EDGES_MAX];
};

static void make(struct scene *scene, uint32_t blocks, const struct cfg_fixture_edge *edges,
		 uint32_t count)
{
	assert_true(blocks <= BLOCKS_MAX && count <= EDGES_MAX);
	*scene = (struct scene){.cfg = cfg_fixture_create(NULL, blocks, edges, count)};
	scene->profile = (struct procedure_profile){
		.samples = scene->samples,
		.edge_samples = scene->seen,
		.edge_probes = scene->probes,
		.calls_in = -1,
	};
}

static void loosen(struct scene *scene)
{
	static const struct frequency_estimate estimate = {
		.value = 2, .low = 1, .high = 30, .confidence = FREQUENCY_MEDIUM};
	struct frequency frequency = {scene->blocks, scene->edges};

	for (uint32_t b = 0; b < scene->cfg->block_count; b++)
		scene->blocks[b] = estimate;
	for (uint32_t e = 0; e < scene->cfg->edge_count; e++)
		scene->edges[e] = estimate;
	assert_int_equal(flow_lower_bounds_apply(&frequency, scene->cfg, &scene->profile), 0);
}

static bool is_loose(const struct frequency_estimate *estimate)
{
	assert_true(estimate->value == 2 && estimate->high == 30);
	assert_int_equal(estimate->confidence,
			 estimate->low > 0 ? FREQUENCY_MEDIUM : FREQUENCY_LOW);
	return estimate->low == 0;
}

/* Return the blocks with a lower bound of zero, as bits: they may not have been executed. */
static unsigned int loose_blocks(struct scene *scene)
{
	unsigned int loose = 0;

	loosen(scene);
	for (uint32_t b = 0; b < scene->cfg->block_count; b++)
		loose |= (unsigned int)is_loose(&scene->blocks[b]) << b;
	return loose;
}

static bool edge_is_loose(const struct scene *scene, uint32_t from, uint32_t to)
{
	return is_loose(&scene->edges[cfg_fixture_edge(scene->cfg, from, to)]);
}

/* 0 enters a loop of 1 to 4 through 2 or 3; 5 follows the loop. */
static const struct cfg_fixture_edge loop[] = {{CFG_ENTRY, 0}, {0, 1}, {1, 2}, {1, 3},	     {2, 4},
					       {3, 4},	       {4, 1}, {4, 5}, {5, CFG_EXIT}};

static void make_loop(struct scene *scene)
{
	make(scene, 6, loop, 9);
	scene->samples[1] = 1000;
}

static void test_a_loop_does_not_tell_how_often_it_was_entered(void **state)
{
	struct scene scene;

	(void)state;
	make_loop(&scene);
	/* All iterations may have passed through 2, or through 3, but 4 follows both. */
	assert_int_equal(loose_blocks(&scene), 1U << 0 | 1U << 2 | 1U << 3 | 1U << 5);
	assert_true(edge_is_loose(&scene, CFG_ENTRY, 0) && edge_is_loose(&scene, 4, 5));
	assert_true(edge_is_loose(&scene, 1, 2) && edge_is_loose(&scene, 3, 4));
	/* The loop may have been entered once for each iteration. */
	assert_true(edge_is_loose(&scene, 4, 1));
	scene.samples[2] = 1;
	assert_int_equal(loose_blocks(&scene), 1U << 0 | 1U << 3 | 1U << 5);
	assert_false(edge_is_loose(&scene, 1, 2));
	cfg_fixture_destroy(scene.cfg);
}

static void test_what_runs_once_for_each_sample_is_tied(void **state)
{
	struct scene scene;

	(void)state;
	make_loop(&scene);
	scene.samples[0] = 1;
	assert_int_equal(loose_blocks(&scene), 1U << 2 | 1U << 3);
	assert_false(edge_is_loose(&scene, 4, 5));
	assert_false(edge_is_loose(&scene, CFG_ENTRY, 0));
	cfg_fixture_destroy(scene.cfg);
}

static void test_directions_tie(void **state)
{
	struct scene scene;

	(void)state;
	make_loop(&scene);
	scene.seen[cfg_fixture_edge(scene.cfg, 1, 3)] = 10;
	assert_int_equal(loose_blocks(&scene), 1U << 0 | 1U << 2 | 1U << 5);
	scene.probes[cfg_fixture_edge(scene.cfg, 4, 5)] = 10;
	assert_int_equal(loose_blocks(&scene), 1U << 2);
	scene.profile.edge_samples = scene.profile.edge_probes = NULL;
	assert_int_equal(loose_blocks(&scene), 1U << 0 | 1U << 2 | 1U << 3 | 1U << 5);
	cfg_fixture_destroy(scene.cfg);
}

static void test_callers_tie_if_they_know(void **state)
{
	struct scene scene;

	(void)state;
	make_loop(&scene);
	scene.profile.calls_in = 5;
	scene.profile.calls_in_weight = 10;
	assert_int_equal(loose_blocks(&scene), 1U << 2 | 1U << 3);
	scene.profile.calls_in_weight = 0.1;
	assert_int_equal(loose_blocks(&scene), 1U << 0 | 1U << 2 | 1U << 3 | 1U << 5);
	cfg_fixture_destroy(scene.cfg);
}

/* No path leads out of 1, so samples of 1 do not imply that 2 was executed. */
static void test_endless_loops_and_unknown_jumps(void **state)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 1}, {1, 1}, {0, CFG_UNKNOWN}, {CFG_UNKNOWN, 2}, {2, CFG_EXIT}};
	struct scene scene;

	(void)state;
	make(&scene, 3, edges, 6);
	scene.samples[1] = 10;
	assert_int_equal(loose_blocks(&scene), 1U << 0 | 1U << 2);
	assert_false(edge_is_loose(&scene, 1, 1));
	scene.samples[2] = 10;
	assert_int_equal(loose_blocks(&scene), 0);
	assert_true(edge_is_loose(&scene, 0, 1));
	assert_false(edge_is_loose(&scene, CFG_UNKNOWN, 2));
	cfg_fixture_destroy(scene.cfg);
}

/* In a graph too big for per-block analysis, blocks without samples get a lower bound of zero. */
static void test_big_graphs(void **state)
{
	enum {
		BLOCKS = 4000
	};
	struct cfg_fixture_edge *edges = calloc(BLOCKS + 1, sizeof(*edges));
	struct frequency_estimate *blocks = calloc(BLOCKS, sizeof(*blocks));
	struct frequency_estimate *of_edges = calloc(BLOCKS + 1, sizeof(*of_edges));
	double *samples = calloc(BLOCKS, sizeof(*samples));
	struct procedure_profile profile = {.samples = samples, .calls_in = -1};
	struct frequency frequency = {blocks, of_edges};
	struct cfg *cfg;

	(void)state;
	assert_true(edges != NULL && blocks != NULL && of_edges != NULL && samples != NULL);
	edges[0] = (struct cfg_fixture_edge){CFG_ENTRY, 0};
	for (uint32_t b = 0; b < BLOCKS; b++) {
		edges[b + 1] = (struct cfg_fixture_edge){b, b + 1 < BLOCKS ? b + 1 : CFG_EXIT};
		blocks[b].low = of_edges[b].low = 1;
		blocks[b].high = of_edges[b].high = 30;
	}
	cfg = cfg_fixture_create(NULL, BLOCKS, edges, BLOCKS + 1);
	samples[7] = samples[8] = 1;
	assert_int_equal(flow_lower_bounds_apply(&frequency, cfg, &profile), 0);
	assert_true(blocks[7].low == 1 && blocks[8].low == 1 && of_edges[7].low == 1);
	assert_true(blocks[6].low == 0 && blocks[9].low == 0 && of_edges[8].low == 0);
	cfg_fixture_destroy(cfg);
	free(edges);
	free(blocks);
	free(of_edges);
	free(samples);
}

/* The frequency of 3 is the difference of the known ones of 1 and 2. */
static void test_differences_tie(void **state)
{
	struct frequency_estimate known = {
		.value = 2, .low = 1, .high = 3, .confidence = FREQUENCY_MEDIUM};
	struct frequency frequency;
	struct scene scene;

	(void)state;
	make_loop(&scene);
	scene.samples[2] = 600;
	loosen(&scene);
	assert_true(is_loose(&scene.blocks[3]));
	scene.blocks[3] = known;
	frequency = (struct frequency){scene.blocks, scene.edges};
	assert_int_equal(flow_lower_bounds_apply(&frequency, scene.cfg, &scene.profile), 0);
	assert_true(scene.blocks[3].low == 1);
	assert_int_equal(scene.blocks[3].confidence, FREQUENCY_MEDIUM);
	cfg_fixture_destroy(scene.cfg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_loop_does_not_tell_how_often_it_was_entered),
		cmocka_unit_test(test_what_runs_once_for_each_sample_is_tied),
		cmocka_unit_test(test_directions_tie),
		cmocka_unit_test(test_callers_tie_if_they_know),
		cmocka_unit_test(test_endless_loops_and_unknown_jumps),
		cmocka_unit_test(test_differences_tie),
		cmocka_unit_test(test_big_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
