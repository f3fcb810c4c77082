// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guessed frequencies of blocks and edges: loops iterate, paths to no-return calls are rare, and
 * flow is conserved.
 */
#include "tests/lib/unit.h"

#include <math.h>

#include "instrument/mode/flow_guess.h"
#include "tests/fixtures/cfg_fixture.h"

enum {
	GRAPHS = 2000,
	BLOCKS_MAX = 30,
	EDGES_MAX = 3 * BLOCKS_MAX + 1
};

static double edge_guess(const struct flow_guess *guess, const struct cfg *cfg, uint32_t from,
			 uint32_t to)
{
	uint32_t edge = cfg_fixture_edge(cfg, from, to);

	assert_true(edge < cfg->edge_count);
	return guess->edge[edge];
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(a));
}

/* 1 is a loop of one block; 2 to 4 are a loop with another back edge and an inner loop. */
static void test_loops(void **state)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 1}, {1, 1}, {1, 2}, {2, 3},
		{3, 3},		{3, 4}, {4, 2}, {4, 5}, {5, CFG_EXIT},
	};
	struct cfg *cfg = cfg_fixture_create(NULL, 6, edges, 10);
	struct flow_guess guess;

	(void)state;
	assert_int_equal(flow_guess_create(&guess, cfg), 0);
	assert_true(near(guess.block[0], 1));
	assert_true(near(guess.block[1], 8));
	assert_true(near(edge_guess(&guess, cfg, 1, 1), 7));
	assert_true(near(edge_guess(&guess, cfg, 1, 2), 1));
	assert_true(near(guess.block[2], 8));
	assert_true(near(guess.block[3], 64));
	assert_true(near(edge_guess(&guess, cfg, 4, 2), 7));
	assert_true(near(guess.block[5], 1));
	flow_guess_deinit(&guess);
	cfg_fixture_destroy(cfg);
}

/* Blocks 1 and 2 lead only to a call that never returns. */
static void test_stops(void **state)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 1}, {0, 3}, {1, 2}, {2, CFG_EXIT}, {3, CFG_EXIT},
	};
	struct cfg *cfg = cfg_fixture_create(NULL, 4, edges, 6);
	struct flow_guess guess;

	(void)state;
	cfg->edges[cfg_fixture_edge(cfg, 2, CFG_EXIT)].kind = CFG_EDGE_STOP;
	assert_int_equal(flow_guess_create(&guess, cfg), 0);
	assert_true(guess.block[1] > 0 && guess.block[1] < 0.02);
	assert_true(near(guess.block[1], guess.block[2]));
	assert_true(near(guess.block[1] + guess.block[3], 1));
	flow_guess_deinit(&guess);
	cfg_fixture_destroy(cfg);
}

static uint32_t random_edges(struct cfg_fixture_edge *edges, uint32_t blocks, bool loops,
			     uint64_t *seed)
{
	uint32_t count = 0;

	edges[count++] = (struct cfg_fixture_edge){CFG_ENTRY, 0};
	for (uint32_t b = 0; b < blocks; b++) {
		uint32_t out = 1 + (uint32_t)(unit_random(seed) % 2);

		for (uint32_t i = 0; i < out; i++) {
			uint32_t least = loops && unit_random(seed) % 3 == 0 ? 0 : b + 1;
			uint32_t to = least + (uint32_t)(unit_random(seed) % (blocks + 1 - least));

			edges[count++] = (struct cfg_fixture_edge){b, to == blocks ? CFG_EXIT : to};
		}
	}
	return count;
}

/* The outflow of a block equals its frequency; without loops, its inflow also does. */
static void check_flow(const struct flow_guess *guess, const struct cfg *cfg, bool loops)
{
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		double in = 0, out = 0;

		for (uint32_t i = block->in; i < block->in + block->in_count; i++)
			in += guess->edge[cfg->in_edges[i]];
		for (uint32_t e = block->out; e < block->out + block->out_count; e++)
			out += guess->edge[e];
		assert_true(guess->block[b] >= 0 && isfinite(guess->block[b]));
		assert_true(near(out, guess->block[b]));
		if (!loops)
			assert_true(near(in, guess->block[b]));
	}
}

static void test_random_graphs(void **state)
{
	struct cfg_fixture_edge edges[EDGES_MAX];
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < GRAPHS; i++) {
		uint32_t blocks = 1 + (uint32_t)(unit_random(&seed) % BLOCKS_MAX);
		uint32_t count = random_edges(edges, blocks, i % 2 != 0, &seed);
		struct cfg *cfg = cfg_fixture_create(NULL, blocks, edges, count);
		struct flow_guess guess;

		assert_int_equal(flow_guess_create(&guess, cfg), 0);
		check_flow(&guess, cfg, i % 2 != 0);
		flow_guess_deinit(&guess);
		cfg_fixture_destroy(cfg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_random_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
