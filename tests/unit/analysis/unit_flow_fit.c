// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <math.h>
#include <string.h>

#include "analysis/frequency/flow_fit.h"
#include "analysis/frequency/flow_spread.h"
#include "tests/fixtures/cfg_fixture.h"

#define GRAPHS 200
#define BLOCKS_MAX 40

static uint32_t seed = 1;

static double draw(void)
{
	seed = seed * 1664525U + 1013904223U;
	return (seed >> 8) / (double)(1U << 24);
}

/* Make a graph in which each block has a successor, and often a second one, forward or back. */
static struct cfg *random_graph(uint32_t blocks)
{
	struct cfg_fixture_edge edges[2 * BLOCKS_MAX + 1] = {{CFG_ENTRY, 0}};
	uint32_t count = 1;

	for (uint32_t b = 0; b < blocks; b++) {
		edges[count++] = (struct cfg_fixture_edge){b, b + 1 < blocks ? b + 1 : CFG_EXIT};
		if (draw() < 0.6)
			edges[count++] = (struct cfg_fixture_edge){b, (uint32_t)(draw() * blocks)};
	}
	return cfg_fixture_create(NULL, blocks, edges, count);
}

static void random_probabilities(const struct flow_chain *chain, double *edges)
{
	for (uint32_t n = 0; n < chain->node_count; n++) {
		double share = 0.1 + 0.8 * draw();

		for (uint32_t i = 0; i < chain->count[n]; i++)
			edges[chain->first[n] + i] = chain->count[n] == 1 ? 1
						     : i == 0		  ? share
									  : 1 - share;
	}
}

static void assert_near(double value, double expected, double part)
{
	if (!(fabs(value - expected) <= part * fabs(expected)))
		fail_msg("%g is not within %g of %g", value, part, expected);
}

/* Flow into each node equals its visits, for any probabilities. */
static void test_visits_conserve_flow(void **state)
{
	(void)state;
	for (int g = 0; g < GRAPHS; g++) {
		struct cfg *cfg = random_graph(1 + (uint32_t)(draw() * (BLOCKS_MAX - 1)));
		double edges[2 * BLOCKS_MAX + 2], visits[BLOCKS_MAX + 2], in[BLOCKS_MAX + 2] = {0};
		struct flow_chain *chain;

		assert_int_equal(flow_chain_create(&chain, cfg), 0);
		for (int again = 0; again < 2; again++) {
			random_probabilities(chain, edges);
			assert_int_equal(flow_chain_set(chain, edges), 0);
			flow_chain_visits(chain, visits);
			memset(in, 0, sizeof(in));
			in[chain->entry] = 1;
			for (uint32_t e = 0; e < chain->edge_count; e++) {
				if (chain->to[e] != FLOW_CHAIN_EXIT)
					in[chain->to[e]] += edges[e] * visits[chain->from[e]];
			}
			for (uint32_t n = 0; n < chain->node_count; n++)
				assert_true(fabs(in[n] - visits[n]) <= 1e-6 * (1 + in[n]));
		}
		flow_chain_destroy(chain);
		cfg_fixture_destroy(cfg);
	}
}

/* The value of the entry equals the sum of all visits times their values. */
static void test_values_are_the_adjoint(void **state)
{
	(void)state;
	for (int g = 0; g < GRAPHS; g++) {
		struct cfg *cfg = random_graph(2 + (uint32_t)(draw() * (BLOCKS_MAX - 2)));
		double edges[2 * BLOCKS_MAX + 2], visits[BLOCKS_MAX + 2], worth[BLOCKS_MAX + 2];
		struct flow_chain *chain;
		double sum = 0;

		assert_int_equal(flow_chain_create(&chain, cfg), 0);
		random_probabilities(chain, edges);
		assert_int_equal(flow_chain_set(chain, edges), 0);
		flow_chain_visits(chain, visits);
		for (uint32_t n = 0; n < chain->node_count; n++) {
			worth[n] = draw() - 0.3;
			sum += worth[n] * visits[n];
		}
		flow_chain_values(chain, worth);
		assert_true(fabs(worth[chain->entry] - sum) <= 1e-6 * (1 + fabs(sum)));
		flow_chain_destroy(chain);
		cfg_fixture_destroy(cfg);
	}
}

static void test_endless_loop_has_a_solution(void **state)
{
	static const struct cfg_fixture_edge edges[] = {{CFG_ENTRY, 0}, {0, 1}, {1, 0}};
	const double probabilities[] = {1, 1, 1};
	struct cfg *cfg = cfg_fixture_create(NULL, 2, edges, 3);
	struct flow_chain *chain;
	double visits[4];

	(void)state;
	assert_int_equal(flow_chain_create(&chain, cfg), 0);
	assert_int_equal(flow_chain_set(chain, probabilities), 0);
	flow_chain_visits(chain, visits);
	assert_true(visits[0] > 1e6 && isfinite(visits[0]));
	assert_near(visits[1], visits[0], 1e-6);
	flow_chain_destroy(chain);
	cfg_fixture_destroy(cfg);
}

/* Make evidence that agrees with the true frequencies: @seen directions of each branch. */
static void make_evidence(struct flow_evidence *evidence, struct flow_chain *chain,
			  const double *edges, const double *truth, double seen)
{
	for (uint32_t e = 0; e < chain->edge_count; e++)
		evidence->seen[e] = seen * edges[e];
	for (uint32_t n = 0; n + 2 < chain->node_count; n++) {
		evidence->blocks[n] = (struct flow_block_evidence){
			.samples = truth[n] * 3, .cycles = 3, .evenness = 1};
	}
}

/* If all evidence agrees, the fit is the true frequencies. */
static void test_fit_finds_what_evidence_agrees_on(void **state)
{
	(void)state;
	for (int g = 0; g < GRAPHS; g++) {
		struct cfg *cfg = random_graph(2 + (uint32_t)(draw() * (BLOCKS_MAX - 2)));
		double edges[2 * BLOCKS_MAX + 2] = {0}, truth[BLOCKS_MAX + 2];
		double seen[2 * BLOCKS_MAX + 2];
		struct flow_block_evidence blocks[BLOCKS_MAX + 2] = {0};
		struct flow_evidence evidence = {.blocks = blocks, .seen = seen};
		struct flow_chain *chain;
		struct flow_fit fit;

		assert_int_equal(flow_chain_create(&chain, cfg), 0);
		random_probabilities(chain, edges);
		assert_int_equal(flow_chain_set(chain, edges), 0);
		flow_chain_visits(chain, truth);
		for (uint32_t n = 0; n < chain->node_count; n++)
			truth[n] *= 1000;
		make_evidence(&evidence, chain, edges, truth, 1000);
		assert_int_equal(flow_fit_create(&fit, chain, &evidence), 0);
		for (uint32_t n = 0; n + 2 < chain->node_count; n++) {
			if (truth[n] > 1)
				assert_near(fit.nodes[n], truth[n], 0.02);
		}
		flow_fit_deinit(&fit);
		flow_chain_destroy(chain);
		cfg_fixture_destroy(cfg);
	}
}

/* entry -> 0 -> 1 (a loop of one block) -> 2 -> exit */
static void fit_more(struct flow_fit *fit, double back, double out, const double samples[3],
		     const struct flow_evidence *more)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 1}, {1, 1}, {1, 2}, {2, CFG_EXIT}};
	struct cfg *cfg = cfg_fixture_create(NULL, 3, edges, 5);
	struct flow_block_evidence blocks[5] = {0};
	double seen[5] = {1, 1, 1, 1, 1};
	struct flow_evidence evidence = *more;
	struct flow_chain *chain;

	evidence.blocks = blocks;
	evidence.seen = seen;

	for (int b = 0; b < 3; b++)
		blocks[b] = (struct flow_block_evidence){
			.samples = samples[b], .cycles = 1, .evenness = 1};
	seen[cfg_fixture_edge(cfg, 1, 1)] = back;
	seen[cfg_fixture_edge(cfg, 1, 2)] = out;
	assert_int_equal(flow_chain_create(&chain, cfg), 0);
	assert_int_equal(flow_fit_create(fit, chain, &evidence), 0);
	assert_null(fit->spread);
	assert_int_equal(flow_spread_find(fit, chain, &evidence), 0);
	flow_chain_destroy(chain);
	cfg_fixture_destroy(cfg);
}

static void fit_loop(struct flow_fit *fit, double back, double out, const double samples[3],
		     double calls, double calls_weight)
{
	fit_more(fit, back, out, samples,
		 &(struct flow_evidence){.calls = calls, .calls_weight = calls_weight});
}

/* Samples suggest a ratio of 1:3, and thousands of branch directions 1:10: the directions win. */
static void test_directions_outweigh_time(void **state)
{
	static const double samples[3] = {1000, 3000, 1000};
	struct flow_fit fit;

	(void)state;
	fit_loop(&fit, 9000, 1000, samples, 0, 0);
	assert_near(fit.nodes[1] / fit.nodes[0], 10, 0.05);
	assert_near(fit.nodes[2], fit.nodes[0], 1e-3);
	flow_fit_deinit(&fit);
}

/*
 * Known directions are kept, however few were seen. The loop is then as certain as its predecessor.
 */
static void test_what_is_known_stays(void **state)
{
	static const double samples[3] = {1000, 3000, 1000};
	bool known[5] = {false, true};
	struct flow_fit fit;

	(void)state;
	fit_more(&fit, 0.4, 0.0001, samples, &(struct flow_evidence){.known = known});
	assert_near(fit.nodes[1] / fit.nodes[0], 4001, 1e-4);
	assert_near(fit.nodes[2], fit.nodes[0], 1e-4);
	assert_near(fit.spread[1], fit.spread[0], 1e-9);
	flow_fit_deinit(&fit);
}

/* Linked blocks keep their measured ratio, against samples and few directions. */
static void test_links_hold(void **state)
{
	static const double samples[3] = {1000, 3000, 1000};
	struct flow_link links[] = {{{1, 2}, log(500), 4}, {{0, 1}, -log(500), 1e4}};
	struct flow_fit fit, loose;

	(void)state;
	fit_more(&fit, 40, 1, samples, &(struct flow_evidence){.links = links, .link_count = 2});
	assert_near(fit.nodes[1] / fit.nodes[0], 500, 0.05);
	assert_near(fit.nodes[2], fit.nodes[0], 1e-3);
	fit_more(&loose, 40, 1, samples, &(struct flow_evidence){.links = links, .link_count = 1});
	assert_true(loose.nodes[1] / loose.nodes[0] < 400);
	/* The certainty of one linked block is that of the other. */
	assert_true(fabs(fit.spread[1] - fit.spread[0]) < 0.01);
	assert_true(fit.spread[1] < loose.spread[1]);
	flow_fit_deinit(&fit);
	flow_fit_deinit(&loose);
}

/* A loop that makes many thousand million iterations at each entry, by a good measurement. */
static void test_the_longest_loops_are_exact(void **state)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 1}, {1, 1}, {1, 2}, {2, CFG_EXIT}};

	(void)state;
	for (double trips = 1e6; trips < 1e12; trips *= 10) {
		struct cfg *cfg = cfg_fixture_create(NULL, 3, edges, 5);
		struct flow_block_evidence blocks[5] = {
			{.cycles = 1, .evenness = 0.2},
			{.samples = 250000, .cycles = 0.01, .evenness = 2500},
			{.cycles = 1, .evenness = 0.2}};
		double seen[5] = {1, 1, 1, 1, 1};
		struct flow_evidence evidence = {.blocks = blocks, .seen = seen};
		struct flow_chain *chain;
		struct flow_fit fit;

		seen[cfg_fixture_edge(cfg, 1, 1)] = 500 * trips;
		seen[cfg_fixture_edge(cfg, 1, 2)] = 500;
		assert_int_equal(flow_chain_create(&chain, cfg), 0);
		assert_int_equal(flow_fit_create(&fit, chain, &evidence), 0);
		assert_near(fit.nodes[1], 25e6, 0.01);
		assert_near(fit.nodes[1] / fit.nodes[0], trips, 0.05);
		flow_fit_deinit(&fit);
		flow_chain_destroy(chain);
		cfg_fixture_destroy(cfg);
	}
}

/*
 * A procedure from a compiler. A clock counts the outer loop (block 11) within 2%. Four loops of
 * 4096 iterations are in it, one of them (8) in a loop (7 to 9) whose directions were hardly
 * observed. The time of block 8 determines how often that loop iterates.
 */
static void test_time_counts_loops_in_clocked_ones(void **state)
{
	static const struct {
		uint32_t from, to;
		double seen;
	} list[] = {{CFG_ENTRY, 0, 1}, {0, 1, 0.094},	    {0, 12, 0.006},   {1, 2, 0.1},
		    {2, 3, 0.1},       {3, 4, 200},	    {3, 3, 819000},   {4, 5, 0.1},
		    {5, 6, 200},       {5, 5, 819000},	    {6, 7, 0.094},    {6, 13, 0.006},
		    {7, 8, 0.1},       {8, 9, 200},	    {8, 8, 819000},   {9, 10, 1.049},
		    {9, 7, 0.05},      {10, 11, 1.049},	    {10, 14, 0.05},   {11, 12, 0.006},
		    {11, 2, 1.093},    {12, CFG_EXIT, 0.1}, {13, 14, 0.05},   {13, 2, 0.05},
		    {14, 15, 0.1},     {15, 16, 200},	    {15, 15, 819000}, {16, 11, 0.1}};
	static const double times[17][4] = {
		{0, 4.8, 1.8, 0.2},   {0, 5.35, 1.98, 0.2}, {0, 2.36, 0.54, 0.2},
		{470, 3.8, 8, 0.1},   {1, 1.92, 0.36, 0.2}, {304, 1.9, 8, 0.1},
		{1, 3.36, 1.08, 0.2}, {0, 2.1, 0.36, 0.2},  {2663, 0.952, 8, 0.1},
		{0, 2.28, 0.54, 0.2}, {0, 3.15, 0.9, 0.2},  {245699, 9.403e6, 2457, 0},
		{0, 4.18, 1.44, 0.2}, {0, 3.19, 0.9, 0.2},  {1, 3.15, 0.54, 0.2},
		{36, 1.9, 8, 0.1},    {0, 1.92, 0.36, 0.2}};
	enum {
		EDGES = sizeof(list) / sizeof(list[0]),
		NODES = 17
	};
	struct cfg_fixture_edge edges[EDGES];
	struct flow_block_evidence blocks[NODES + 2] = {0};
	double seen[EDGES];
	bool known[NODES + 2] = {[3] = true, [5] = true, [8] = true, [15] = true};
	struct flow_evidence evidence = {.blocks = blocks, .seen = seen, .known = known};
	struct flow_chain *chain;
	struct flow_fit fit;
	struct cfg *cfg;

	(void)state;
	for (size_t i = 0; i < EDGES; i++)
		edges[i] = (struct cfg_fixture_edge){list[i].from, list[i].to};
	cfg = cfg_fixture_create(NULL, NODES, edges, EDGES);
	for (size_t i = 0; i < EDGES; i++)
		seen[cfg_fixture_edge(cfg, list[i].from, list[i].to)] = list[i].seen;
	for (size_t b = 0; b < NODES; b++)
		blocks[b] = (struct flow_block_evidence){times[b][0], times[b][1], times[b][2],
							 times[b][3]};
	assert_int_equal(flow_chain_create(&chain, cfg), 0);
	assert_int_equal(flow_fit_create(&fit, chain, &evidence), 0);
	assert_near(fit.nodes[11], 245699 / 9.403e6, 0.02);
	assert_near(fit.nodes[8] * blocks[8].cycles, blocks[8].samples, 0.4);
	flow_fit_deinit(&fit);
	flow_chain_destroy(chain);
	cfg_fixture_destroy(cfg);
}

/* Without directions, samples determine the frequencies. */
static void test_time_speaks_where_directions_do_not(void **state)
{
	static const double samples[3] = {1000, 50000, 1000};
	struct flow_fit fit;

	(void)state;
	fit_loop(&fit, 0.01, 0.01, samples, 0, 0);
	assert_near(fit.nodes[1] / fit.nodes[0], 50, 0.1);
	flow_fit_deinit(&fit);
}

static void test_spread_shrinks_with_evidence(void **state)
{
	static const double samples[3] = {10, 30, 10};
	struct flow_fit few, many, called;

	(void)state;
	fit_loop(&few, 4, 2, samples, 0, 0);
	fit_loop(&many, 4000, 2000, samples, 0, 0);
	fit_loop(&called, 4000, 2000, samples, 10, 400);
	assert_true(many.spread[1] < few.spread[1]);
	assert_true(called.spread[1] < many.spread[1]);
	/* Three blocks of shape one, almost perfectly linked. */
	assert_near(many.spread[1], 1 / sqrt(3), 0.1);
	assert_near(called.spread[0], 0.05, 0.1);
	flow_fit_deinit(&few);
	flow_fit_deinit(&many);
	flow_fit_deinit(&called);
}

static void test_callers_set_the_scale(void **state)
{
	static const double samples[3] = {10, 30, 10};
	struct flow_fit fit;

	(void)state;
	fit_loop(&fit, 4000, 2000, samples, 40, 1e6);
	assert_near(fit.nodes[0], 40, 0.01);
	assert_near(fit.nodes[1], 120, 0.01);
	flow_fit_deinit(&fit);
}

#define LINE 10

/* Fit a line of blocks with equal frequencies; the samples of the first block differ. */
static void fit_line(struct flow_fit *fit, double samples, double first, double heaviness)
{
	struct cfg_fixture_edge edges[LINE + 1] = {{CFG_ENTRY, 0}};
	struct flow_block_evidence blocks[LINE + 2] = {0};
	double seen[LINE + 1];
	struct flow_evidence evidence = {.blocks = blocks, .seen = seen};
	struct flow_chain *chain;
	struct cfg *cfg;

	for (uint32_t b = 0; b < LINE; b++) {
		edges[b + 1] = (struct cfg_fixture_edge){b, b + 1 < LINE ? b + 1 : CFG_EXIT};
		blocks[b] = (struct flow_block_evidence){.samples = b == 0 ? first : samples,
							 .cycles = 1,
							 .evenness = 0.5,
							 .heaviness = heaviness};
	}
	for (uint32_t e = 0; e < LINE + 1; e++)
		seen[e] = 1;
	cfg = cfg_fixture_create(NULL, LINE, edges, LINE + 1);
	assert_int_equal(flow_chain_create(&chain, cfg), 0);
	assert_int_equal(flow_fit_create(fit, chain, &evidence), 0);
	assert_int_equal(flow_spread_find(fit, chain, &evidence), 0);
	flow_chain_destroy(chain);
	cfg_fixture_destroy(cfg);
}

/* Nine blocks in ten agree; one waits for memory, a hundred or a thousand times as long. */
static void test_heavy_stalls_are_one_blocks_own(void **state)
{
	struct flow_fit even, hundred, thousand, all;

	(void)state;
	fit_line(&even, 1000, 1000, 1 / 3.0);
	fit_line(&hundred, 1000, 100000, 1 / 3.0);
	fit_line(&thousand, 1000, 1000000, 1 / 3.0);
	fit_line(&all, 1000, 100000, 0);
	assert_near(even.nodes[0], 1000, 0.01);
	assert_true(hundred.nodes[0] > 1000 && hundred.nodes[0] < 3000);
	assert_true(thousand.nodes[0] < 1.3 * hundred.nodes[0]);
	/* Without heavy stalls, the estimate is the mean. */
	assert_near(all.nodes[0], 10900, 0.01);
	flow_fit_deinit(&even);
	flow_fit_deinit(&hundred);
	flow_fit_deinit(&thousand);
	flow_fit_deinit(&all);
}

/* A block with a heavy stall does not make the frequency of the others more certain. */
static void test_heavy_stalls_tell_no_more(void **state)
{
	struct flow_fit even, hundred;

	(void)state;
	fit_line(&even, 1000, 1000, 1 / 3.0);
	fit_line(&hundred, 1000, 100000, 1 / 3.0);
	assert_true(hundred.spread[0] > 0.9 * even.spread[0]);
	flow_fit_deinit(&even);
	flow_fit_deinit(&hundred);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_visits_conserve_flow),
		cmocka_unit_test(test_values_are_the_adjoint),
		cmocka_unit_test(test_endless_loop_has_a_solution),
		cmocka_unit_test(test_fit_finds_what_evidence_agrees_on),
		cmocka_unit_test(test_directions_outweigh_time),
		cmocka_unit_test(test_what_is_known_stays),
		cmocka_unit_test(test_links_hold),
		cmocka_unit_test(test_the_longest_loops_are_exact),
		cmocka_unit_test(test_time_counts_loops_in_clocked_ones),
		cmocka_unit_test(test_time_speaks_where_directions_do_not),
		cmocka_unit_test(test_spread_shrinks_with_evidence),
		cmocka_unit_test(test_callers_set_the_scale),
		cmocka_unit_test(test_heavy_stalls_are_one_blocks_own),
		cmocka_unit_test(test_heavy_stalls_tell_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
