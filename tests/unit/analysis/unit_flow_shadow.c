// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <string.h>

#include "analysis/frequency/flow_shadow.h"
#include "tests/fixtures/cfg_fixture.h"

#define BLOCKS 7

/* 2 is a loop in the loop of 1 to 4; 5 follows both. 6 is never near the inner loop. */
static const struct cfg_fixture_edge edges[] = {{CFG_ENTRY, 0}, {0, 6},	      {6, 1}, {1, 2},
						{2, 2},		{2, 3},	      {3, 4}, {4, 1},
						{4, 5},		{5, CFG_EXIT}};
static const uint32_t insns[BLOCKS] = {4, 8, 8, 8, 40, 8, 8};

static void find(bool shadowed[BLOCKS], bool waits_2, double trips)
{
	struct cfg *cfg = cfg_fixture_create(insns, BLOCKS, edges, sizeof(edges) / sizeof(*edges));
	bool waits[BLOCKS] = {[2] = waits_2};
	double seen[sizeof(edges) / sizeof(*edges)];
	struct flow_chain *chain;

	assert_int_equal(flow_chain_create(&chain, cfg), 0);
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		seen[e] = 1;
	seen[cfg_fixture_edge(cfg, 2, 2)] = trips - 1;
	memset(shadowed, 0, BLOCKS * sizeof(*shadowed));
	assert_int_equal(flow_shadow_find(shadowed, chain, cfg, waits, seen), 0);
	flow_chain_destroy(chain);
	cfg_fixture_destroy(cfg);
}

/* 64 instructions: 8 of block 3, 40 of block 4, then 8 each of blocks 1 and 5. */
static void test_blocks_shortly_after_a_long_loop_are_shadowed(void **state)
{
	bool shadowed[BLOCKS];

	(void)state;
	find(shadowed, true, 1000);
	assert_true(shadowed[3] && shadowed[4] && shadowed[1] && shadowed[5]);
	assert_false(shadowed[0] || shadowed[6]);
	/* Its own evidence shows that it waits. */
	assert_false(shadowed[2]);
}

static void test_short_loops_and_fast_loops_cast_none(void **state)
{
	bool shadowed[BLOCKS];

	(void)state;
	find(shadowed, true, 3);
	for (uint32_t b = 0; b < BLOCKS; b++)
		assert_false(shadowed[b]);
	find(shadowed, false, 1000);
	for (uint32_t b = 0; b < BLOCKS; b++)
		assert_false(shadowed[b]);
}

/* A line of blocks of 16 instructions. */
static void test_the_shadow_has_a_length(void **state)
{
	enum {
		LENGTH = 12
	};
	struct cfg_fixture_edge line[LENGTH + 3] = {{CFG_ENTRY, 0}, {0, 0}};
	uint32_t counts[LENGTH + 1];
	bool waits[LENGTH + 1] = {true}, shadowed[LENGTH + 1] = {false};
	double seen[LENGTH + 3];
	struct flow_chain *chain;
	struct cfg *cfg;

	(void)state;
	for (uint32_t b = 0; b <= LENGTH; b++) {
		line[2 + b] = (struct cfg_fixture_edge){b, b == LENGTH ? CFG_EXIT : b + 1};
		counts[b] = 16;
	}
	cfg = cfg_fixture_create(counts, LENGTH + 1, line, LENGTH + 3);
	assert_int_equal(flow_chain_create(&chain, cfg), 0);
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		seen[e] = 1;
	seen[cfg_fixture_edge(cfg, 0, 0)] = 99;
	assert_int_equal(flow_shadow_find(shadowed, chain, cfg, waits, seen), 0);
	for (uint32_t b = 1; b <= LENGTH; b++)
		assert_int_equal(shadowed[b], b <= 4);
	flow_chain_destroy(chain);
	cfg_fixture_destroy(cfg);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_shortly_after_a_long_loop_are_shadowed),
		cmocka_unit_test(test_short_loops_and_fast_loops_cast_none),
		cmocka_unit_test(test_the_shadow_has_a_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
