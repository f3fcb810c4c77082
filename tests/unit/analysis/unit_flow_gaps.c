// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loops with measured branches: selects the loop whose samples determine the execution count of a
 * branch.
 */
#include "tests/lib/unit.h"

#include <math.h>

#include "analysis/frequency/flow_gaps.h"
#include "tests/fixtures/cfg_fixture.h"

#define BLOCKS 6
#define EDGES_MAX 12
#define PERIOD_CYCLES 1000.0
#define CLOCK_NS 200000.0
/* Samples of each block of the loops. */
#define SAMPLES 1000.0
/* Time between two executions of a branch, in samples. */
#define GAP_SAMPLES 0.05
#define GAPS 2000.0

/* 0 enters a loop of 1 to 4, which contains a loop of 2 and 3; 5 follows both. */
static const struct cfg_fixture_edge nest[] = {{CFG_ENTRY, 0}, {0, 1}, {1, 2}, {2, 3},	     {3, 2},
					       {3, 4},	       {4, 1}, {4, 5}, {5, CFG_EXIT}};

/*
 * struct scene - blocks, their evidence, and their execution counts
 * @rounds: iterations of the outer loop, and of the inner loop per outer iteration
 */
struct scene {
	struct cfg *cfg;
	struct flow_chain *chain;
	struct procedure_profile profile;
	double samples[BLOCKS];
	double gaps[BLOCKS];
	double gap_samples[BLOCKS];
	double gap_variance[BLOCKS];
	struct flow_block_evidence blocks[BLOCKS + 2];
	double nodes[BLOCKS + 2];
	double edges[EDGES_MAX];
	double entries;
	double rounds[2];
	struct cfg_call call;
};

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	scene->cfg = cfg_fixture_create(NULL, BLOCKS, nest, sizeof(nest) / sizeof(*nest));
	assert_int_equal(flow_chain_create(&scene->chain, scene->cfg), 0);
	scene->profile = (struct procedure_profile){
		.samples = scene->samples,
		.gaps = scene->gaps,
		.gap_samples = scene->gap_samples,
		.gap_variance = scene->gap_variance,
		.period_cycles = PERIOD_CYCLES,
		.clock = true,
		.clock_ns = CLOCK_NS,
		.total = 4 * SAMPLES,
		.all = 100 * SAMPLES,
	};
	for (uint32_t b = 1; b <= 4; b++)
		scene->samples[b] = SAMPLES;
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	scene->cfg->calls = NULL;
	scene->cfg->call_count = 0;
	flow_chain_destroy(scene->chain);
	cfg_fixture_destroy(scene->cfg);
	free(scene);
	return 0;
}

static void go_round(struct scene *scene, double entries, double outer, double inner)
{
	scene->entries = entries;
	scene->rounds[0] = outer;
	scene->rounds[1] = inner;
}

static void measure(struct scene *scene, uint32_t block)
{
	scene->gaps[block] = GAPS;
	scene->gap_samples[block] = GAPS * GAP_SAMPLES;
}

static void set_edge(struct scene *scene, uint32_t from, uint32_t to, double probability)
{
	scene->edges[cfg_fixture_edge(scene->cfg, from, to)] = probability;
}

/* Return: the number of blocks with evidence from gaps. */
static int take(struct scene *scene)
{
	struct flow_evidence evidence = {.blocks = scene->blocks};
	struct flow_fit fit = {.nodes = scene->nodes, .edges = scene->edges};
	struct frequency_input input = {.profile = &scene->profile, .cfg = scene->cfg};
	double entries = scene->entries / PERIOD_CYCLES;

	for (uint32_t e = 0; e < scene->cfg->edge_count; e++)
		scene->edges[e] = 1;
	set_edge(scene, 3, 2, 1 - 1 / scene->rounds[1]);
	set_edge(scene, 3, 4, 1 / scene->rounds[1]);
	set_edge(scene, 4, 1, 1 - 1 / scene->rounds[0]);
	set_edge(scene, 4, 5, 1 / scene->rounds[0]);
	scene->nodes[0] = scene->nodes[5] = scene->nodes[scene->chain->entry] = entries;
	scene->nodes[1] = scene->nodes[4] = entries * scene->rounds[0];
	scene->nodes[2] = scene->nodes[3] = scene->nodes[1] * scene->rounds[1];
	return flow_gaps_take(&evidence, &fit, scene->chain, &input);
}

/* Check the executions derived from the evidence, and its certainty. */
static void assert_executions(const struct scene *scene, uint32_t block, double samples)
{
	const struct flow_block_evidence *evidence = &scene->blocks[block];

	assert_true(evidence->heaviness == 0 && evidence->evenness > 50);
	assert_true(fabs(evidence->samples / evidence->cycles * PERIOD_CYCLES /
				 (samples / GAP_SAMPLES) -
			 1) < 1e-9);
}

/*
 * 4,000 samples are 0.8 s: 16 outer iterations of 50 ms, half of it in the inner loop. The
 * measurement applies to the inner loop.
 */
static void long_inner_loops_are_what_is_measured(void **state)
{
	struct scene *scene = *state;

	go_round(scene, 1, 16, 5000);
	measure(scene, 3);
	measure(scene, 4);
	assert_int_equal(take(scene), 2);
	assert_executions(scene, 3, 2 * SAMPLES);
	assert_executions(scene, 4, 4 * SAMPLES);
}

/*
 * 800 iterations of 1 ms: a window of ten milliseconds contains several. The measurement applies to
 * the outer loop.
 */
static void short_inner_loops_are_parts(void **state)
{
	struct scene *scene = *state;

	go_round(scene, 1, 800, 100);
	measure(scene, 2);
	assert_int_equal(take(scene), 1);
	assert_executions(scene, 2, 4 * SAMPLES);
	assert_true(scene->blocks[3].evenness == 0);
}

/* If the whole procedure takes a millisecond, the part that was measured is unknown. */
static void short_procedures_are_not_all(void **state)
{
	struct scene *scene = *state;

	go_round(scene, 800, 10, 10);
	measure(scene, 2);
	assert_int_equal(take(scene), 0);
	/* Unless no other procedure runs. */
	scene->profile.all = 4 * SAMPLES;
	assert_int_equal(take(scene), 1);
	assert_executions(scene, 2, 4 * SAMPLES);
}

/* Called procedures have samples of their own, bounded by the samples outside the procedure. */
static void calls_take_time(void **state)
{
	struct scene *scene = *state;

	scene->call = (struct cfg_call){.insn = 4, .returns = true};
	scene->cfg->calls = &scene->call;
	scene->cfg->call_count = 1;
	go_round(scene, 1, 16, 5000);
	measure(scene, 3);
	measure(scene, 4);
	assert_int_equal(take(scene), 1);
	assert_executions(scene, 3, 2 * SAMPLES);
	scene->profile.all = 4.4 * SAMPLES;
	assert_int_equal(take(scene), 2);
	assert_executions(scene, 4, 4.2 * SAMPLES);
}

/* No evidence for blocks executed once, without measurement, or without gaps. */
static void the_rest_has_none(void **state)
{
	struct scene *scene = *state;

	go_round(scene, 1, 1000, 1000);
	measure(scene, 5);
	scene->profile.all = 4 * SAMPLES;
	assert_int_equal(take(scene), 0);
	scene->profile.gaps = NULL;
	assert_int_equal(take(scene), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(long_inner_loops_are_what_is_measured),
		TEST(short_inner_loops_are_parts),
		TEST(short_procedures_are_not_all),
		TEST(calls_take_time),
		TEST(the_rest_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
