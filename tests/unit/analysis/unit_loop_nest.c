// SPDX-License-Identifier: GPL-2.0-only
/* Loops of hand-made graphs, and of random graphs compared with a search by the definition. */
#include "tests/lib/unit.h"

#include <string.h>

#include "analysis/graph/loop_nest.h"
#include "tests/fixtures/cfg_fixture.h"

#define BLOCKS 12
#define EDGES_MAX 40

static void assert_header(const struct loop_nest *nest, uint32_t block, uint32_t header)
{
	uint32_t loop = nest->of_block[block];

	assert_int_not_equal(loop, LOOP_NEST_NONE);
	assert_int_equal(nest->loops[loop].header, header);
}

/* 1 to 5 are a loop with an inner loop of 2 and 3, which contains a loop of 3 alone; 6 follows. */
static void test_nested_loops(void **state)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 1}, {1, 2}, {2, 3}, {3, 3},	      {3, 2},
		{3, 4},		{4, 5}, {5, 1}, {5, 6}, {6, CFG_EXIT}};
	struct cfg *cfg = cfg_fixture_create(NULL, 7, edges, sizeof(edges) / sizeof(*edges));
	struct loop_nest nest;

	(void)state;
	assert_int_equal(loop_nest_create(&nest, cfg), 0);
	assert_int_equal(nest.count, 3);
	assert_header(&nest, 1, 1);
	assert_header(&nest, 4, 1);
	assert_header(&nest, 5, 1);
	assert_header(&nest, 2, 2);
	assert_header(&nest, 3, 3);
	assert_int_equal(nest.loops[nest.of_block[3]].parent, nest.of_block[2]);
	assert_int_equal(nest.loops[nest.of_block[2]].parent, nest.of_block[1]);
	assert_int_equal(nest.of_block[0], LOOP_NEST_NONE);
	assert_int_equal(nest.of_block[6], LOOP_NEST_NONE);
	assert_true(loop_nest_contains(&nest, cfg, nest.of_block[1], 3));
	assert_false(loop_nest_contains(&nest, cfg, nest.of_block[3], 2));
	assert_false(loop_nest_contains(&nest, cfg, nest.of_block[1], CFG_EXIT));
	loop_nest_deinit(&nest);
	cfg_fixture_destroy(cfg);
}

static void test_several_entries(void **state)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 1}, {0, 2}, {1, 2}, {2, 1}, {2, 3}, {3, CFG_EXIT}};
	struct cfg *cfg = cfg_fixture_create(NULL, 4, edges, sizeof(edges) / sizeof(*edges));
	struct loop_nest nest;
	uint32_t block;

	(void)state;
	assert_int_equal(loop_nest_create(&nest, cfg), 0);
	assert_int_equal(nest.count, 1);
	assert_header(&nest, 1, LOOP_NEST_NONE);
	assert_header(&nest, 2, LOOP_NEST_NONE);
	assert_int_equal(loop_nest_iteration_block(&block, &nest, cfg, 0), 0);
	assert_int_equal(block, 1);
	loop_nest_deinit(&nest);
	cfg_fixture_destroy(cfg);
}

/* A rotated loop: 1 and 2 are entries, 3 follows both, with an inner loop of 4. */
static void test_iterations_have_common_block(void **state)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 1}, {0, 2}, {1, 4}, {2, 4},	      {4, 4},
		{4, 3},		{3, 1}, {3, 2}, {3, 5}, {5, CFG_EXIT}};
	struct cfg *cfg = cfg_fixture_create(NULL, 6, edges, sizeof(edges) / sizeof(*edges));
	struct loop_nest nest;
	uint32_t block;

	(void)state;
	assert_int_equal(loop_nest_create(&nest, cfg), 0);
	assert_int_equal(nest.count, 2);
	assert_header(&nest, 3, LOOP_NEST_NONE);
	assert_int_equal(loop_nest_iteration_block(&block, &nest, cfg, nest.of_block[3]), 0);
	assert_int_equal(block, 3);
	assert_int_equal(loop_nest_iteration_block(&block, &nest, cfg, nest.of_block[4]), 0);
	assert_int_equal(block, 4);
	loop_nest_deinit(&nest);
	cfg_fixture_destroy(cfg);
}

/*
 * The definition: find the strongly connected parts of a set of blocks. Repeat in each part without
 * the edges to its entries.
 */
struct reference {
	const struct cfg *cfg;
	bool edges[BLOCKS][BLOCKS]; /* remaining edges */
	uint32_t depth[BLOCKS];	    /* number of loops around each block */
};

static void find_reach(bool reach[BLOCKS][BLOCKS], const struct reference *reference,
		       const bool *inside)
{
	memset(reach, 0, sizeof(bool[BLOCKS][BLOCKS]));
	for (int round = 0; round < BLOCKS; round++) {
		for (uint32_t a = 0; a < BLOCKS; a++) {
			for (uint32_t b = 0; b < BLOCKS; b++) {
				if (!inside[a] || !inside[b] || !reference->edges[a][b])
					continue;
				reach[a][b] = true;
				for (uint32_t c = 0; c < BLOCKS; c++)
					reach[a][c] |= reach[b][c];
			}
		}
	}
}

static bool comes_from_outside(const struct cfg *cfg, uint32_t block, const bool *inside)
{
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		uint32_t from = cfg->edges[e].from;

		if (cfg->edges[e].to == block && (from >= BLOCKS || !inside[from]))
			return true;
	}
	return false;
}

static void descend(struct reference *reference, const bool *inside)
{
	bool reach[BLOCKS][BLOCKS], done[BLOCKS] = {false};

	find_reach(reach, reference, inside);
	for (uint32_t b = 0; b < BLOCKS; b++) {
		bool part[BLOCKS] = {false};

		if (!inside[b] || done[b] || !reach[b][b])
			continue;
		for (uint32_t c = 0; c < BLOCKS; c++) {
			part[c] = inside[c] && reach[b][c] && reach[c][b];
			done[c] |= part[c];
			reference->depth[c] += part[c];
		}
		for (uint32_t c = 0; c < BLOCKS; c++) {
			if (!part[c] || !comes_from_outside(reference->cfg, c, part))
				continue;
			for (uint32_t from = 0; from < BLOCKS; from++) {
				if (part[from])
					reference->edges[from][c] = false;
			}
		}
		descend(reference, part);
	}
}

static struct cfg *draw_graph(uint64_t *seed)
{
	struct cfg_fixture_edge edges[EDGES_MAX];
	uint32_t count = 0;

	edges[count++] = (struct cfg_fixture_edge){CFG_ENTRY, 0};
	/* Every block is reached, and has a path to the exit. */
	for (uint32_t b = 1; b < BLOCKS; b++)
		edges[count++] = (struct cfg_fixture_edge){(uint32_t)(unit_random(seed) % b), b};
	for (uint32_t extra = (uint32_t)(unit_random(seed) % 16); extra > 0; extra--)
		edges[count++] = (struct cfg_fixture_edge){(uint32_t)(unit_random(seed) % BLOCKS),
							   (uint32_t)(unit_random(seed) % BLOCKS)};
	edges[count++] = (struct cfg_fixture_edge){BLOCKS - 1, CFG_EXIT};
	return cfg_fixture_create(NULL, BLOCKS, edges, count);
}

static uint32_t depth_of(const struct loop_nest *nest, uint32_t block)
{
	uint32_t depth = 0;

	for (uint32_t at = nest->of_block[block]; at != LOOP_NEST_NONE;
	     at = nest->loops[at].parent) {
		assert_true(nest->loops[at].parent == LOOP_NEST_NONE ||
			    nest->loops[at].parent < at);
		depth++;
	}
	return depth;
}

static void test_depths_agree_with_definition(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct cfg *cfg = draw_graph(&seed);
		struct reference reference = {.cfg = cfg};
		bool all[BLOCKS];
		struct loop_nest nest;

		memset(all, true, sizeof(all));
		for (uint32_t e = 0; e < cfg->edge_count; e++) {
			const struct cfg_edge *edge = &cfg->edges[e];

			if (edge->from < BLOCKS && edge->to < BLOCKS)
				reference.edges[edge->from][edge->to] = true;
		}
		descend(&reference, all);
		assert_int_equal(loop_nest_create(&nest, cfg), 0);
		for (uint32_t b = 0; b < BLOCKS; b++)
			assert_int_equal(depth_of(&nest, b), reference.depth[b]);
		loop_nest_deinit(&nest);
		cfg_fixture_destroy(cfg);
	}
}

/* Return: the loop directly within @loop that contains a block of it; @loop: none does. */
static uint32_t inner_loop(const struct loop_nest *nest, uint32_t loop, uint32_t block)
{
	uint32_t at = nest->of_block[block];

	while (at != loop && nest->loops[at].parent != loop)
		at = nest->loops[at].parent;
	return at;
}

/* Walk through a loop at random, but not through @without: all cycles are within inner loops. */
static void walk_without(const struct loop_nest *nest, const struct cfg *cfg, uint32_t loop,
			 uint32_t without, uint64_t *seed)
{
	uint32_t at = (uint32_t)(unit_random(seed) % BLOCKS), left[BLOCKS] = {0}, changes = 0;
	uint32_t before = LOOP_NEST_NONE;

	for (int step = 0; step < 100; step++) {
		const struct cfg_block *block = &cfg->blocks[at];
		uint32_t inner;

		if (at == without || !loop_nest_contains(nest, cfg, loop, at))
			return;
		inner = inner_loop(nest, loop, at);
		changes += inner == loop || inner != before;
		before = inner;
		assert_true(left[at] == 0 || left[at] == changes);
		left[at] = changes;
		if (block->out_count == 0)
			return;
		at = cfg->edges[block->out + unit_random(seed) % block->out_count].to;
		if (at >= BLOCKS)
			return;
	}
}

static void test_common_block_is_on_all_cycles(void **state)
{
	uint32_t found = 0, several = 0;
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < 1000; round++) {
		struct cfg *cfg = draw_graph(&seed);
		struct loop_nest nest;

		assert_int_equal(loop_nest_create(&nest, cfg), 0);
		for (uint32_t loop = 0; loop < nest.count; loop++) {
			uint32_t block;

			assert_int_equal(loop_nest_iteration_block(&block, &nest, cfg, loop), 0);
			if (nest.loops[loop].header != LOOP_NEST_NONE)
				assert_int_equal(block, nest.loops[loop].header);
			if (block == LOOP_NEST_NONE)
				continue;
			found++;
			several += nest.loops[loop].header == LOOP_NEST_NONE;
			for (int walk = 0; walk < 20; walk++)
				walk_without(&nest, cfg, loop, block, &seed);
		}
		loop_nest_deinit(&nest);
		cfg_fixture_destroy(cfg);
	}
	assert_true(found > 1000 && several > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested_loops),
		cmocka_unit_test(test_several_entries),
		cmocka_unit_test(test_depths_agree_with_definition),
		cmocka_unit_test(test_iterations_have_common_block),
		cmocka_unit_test(test_common_block_is_on_all_cycles),
	};

	return cmocka_run_group_tests_name("loop_nest", tests, NULL, NULL);
}
