// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks that switch between two clones: with as few checks as possible, every cycle of a
 * procedure's graph and every recursion has one, except loops that record nothing.
 */
#include "tests/lib/unit.h"

#include "analysis/graph/strong_components.h"
#include "instrument/clone/burst_switch_entries.h"
#include "instrument/clone/burst_switch_loops.h"
#include "lib/error.h"
#include "tests/fixtures/random_graph.h"

#define ROUNDS 4000

/* --- names ---------------------------------------------------------------- */

static void test_names(void **state)
{
	static const char *const good[] = {"orig", "EL",    "EC",     "EN",    "L4", "L10",
					   "LN",   "EC+L4", "EN+L10", "EL+LN", "L0", "EC+L9999"};
	static const char *const bad[] = {"",	    "E",     "EX",     "L",	 "LX",	  "EC+",
					  "EC+EC",  "L4+EC", "+L4",    "ECL4",	 "L4+L4", "L99999",
					  "EC+L4x", "orig+", "EC++L4", "orig+L4"};
	struct burst_switch_placement placement;
	char name[BURST_SWITCH_PLACEMENT_NAME_BYTES];
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(burst_switch_placement_parse(&placement, good[i], &err), 0);
		burst_switch_placement_name(name, &placement);
		assert_string_equal(name, good[i]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(burst_switch_placement_parse(&placement, bad[i], &err) < 0);
	placement = BURST_SWITCH_PLACEMENT_DEFAULT;
	burst_switch_placement_name(name, &placement);
	assert_string_equal(name, "EC+L4");
}

/* --- loops ---------------------------------------------------------------- */

/* Count the events on cycles without a check through a block. */
static int events_around(const struct random_cfg *blocks, const bool *checked, uint32_t block)
{
	uint32_t component[RANDOM_GRAPH_NODES], count, edges = 0, first[RANDOM_GRAPH_NODES + 1],
						       targets[RANDOM_GRAPH_EDGES];
	struct strong_graph graph = {first, targets, blocks->graph.nodes};
	int events = 0;

	for (uint32_t n = 0; n < graph.nodes; n++) {
		first[n] = edges;
		for (uint32_t e = blocks->graph.first[n]; e < blocks->graph.first[n + 1]; e++) {
			if (!checked[e])
				targets[edges++] = blocks->graph.targets[e] < graph.nodes
							   ? blocks->graph.targets[e]
							   : UINT32_MAX;
		}
	}
	first[graph.nodes] = edges;
	assert_int_equal(strong_components_find(component, &count, &graph), 0);
	for (uint32_t n = 0; n < graph.nodes; n++) {
		if (component[n] == component[block])
			events += blocks->insns[n].flags != 0;
	}
	return events;
}

static void test_each_loop_has_a_check(void **state)
{
	static struct random_cfg blocks;
	uint64_t random = 2001;
	unsigned int unchecked = 0, checked = 0;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		int32_t limit = (int32_t)(unit_random(&random) % 5) - 1;
		struct burst_switch_loops loops;

		random_cfg_make(&blocks, &random);
		assert_int_equal(burst_switch_loops_find(&loops, &blocks.cfg, limit,
							 random_cfg_is_event, &blocks),
				 0);
		for (uint32_t b = 0; b < blocks.cfg.block_count; b++) {
			unchecked += loops.unchecked[b];
			if (loops.unchecked[b]) {
				assert_true(limit >= 0);
				assert_int_equal(blocks.insns[b].flow, INSN_FLOW_NEXT);
			}
			if (!random_graph_is_on_cycle(&blocks.graph, loops.checked, b))
				continue;
			assert_true(loops.unchecked[b]);
			assert_true(events_around(&blocks, loops.checked, b) <= limit);
		}
		for (uint32_t e = 0; e < blocks.cfg.edge_count; e++)
			checked += loops.checked[e];
		burst_switch_loops_deinit(&loops);
	}
	assert_true(unchecked > ROUNDS / 4 && checked > ROUNDS);
}

static void test_no_loop_has_a_check(void **state)
{
	static struct random_cfg blocks;
	uint64_t random = 3;
	struct burst_switch_loops loops;

	(void)state;
	random_cfg_make(&blocks, &random);
	assert_int_equal(burst_switch_loops_find(&loops, &blocks.cfg, BURST_SWITCH_LOOPS_NONE,
						 random_cfg_is_event, &blocks),
			 0);
	for (uint32_t e = 0; e < blocks.cfg.edge_count; e++)
		assert_false(loops.checked[e]);
	for (uint32_t b = 0; b < blocks.cfg.block_count; b++)
		assert_false(loops.unchecked[b]);
	burst_switch_loops_deinit(&loops);
}

/* --- entries -------------------------------------------------------------- */

/* Return true if there is a recursion without a check when this one is removed. */
static bool is_needed(const struct random_graph *model, const uint8_t *checked, uint32_t node)
{
	bool gone[RANDOM_GRAPH_EDGES] = {false};

	for (uint32_t e = 0; e < model->first[model->nodes]; e++) {
		uint32_t to = model->targets[e];

		gone[e] = to < model->nodes && to != node && checked[to] == BURST_SWITCH_ENTRY_EACH;
	}
	return random_graph_is_on_cycle(model, gone, node);
}

static void test_each_recursion_has_a_check(void **state)
{
	static struct random_graph model;
	uint64_t random = 41;
	unsigned int fewer = 0;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint8_t cycles[RANDOM_GRAPH_NODES], callers[RANDOM_GRAPH_NODES];
		bool outside[RANDOM_GRAPH_NODES] = {false};
		bool gone[RANDOM_GRAPH_EDGES] = {false};
		struct direct_calls calls = {.outside = outside};

		random_graph_make(&model, &random);
		calls.graph = (struct strong_graph){model.first, model.targets, model.nodes};
		for (uint32_t n = 0; n < model.nodes; n++)
			outside[n] = unit_random(&random) % 4 == 0;
		assert_int_equal(
			burst_switch_entries_find(cycles, &calls, BURST_SWITCH_ENTRIES_CYCLES), 0);
		assert_int_equal(
			burst_switch_entries_find(callers, &calls, BURST_SWITCH_ENTRIES_CALLERS),
			0);
		for (uint32_t e = 0; e < model.first[model.nodes]; e++)
			gone[e] = model.targets[e] < model.nodes &&
				  cycles[model.targets[e]] == BURST_SWITCH_ENTRY_EACH;
		for (uint32_t n = 0; n < model.nodes; n++) {
			bool leaf = model.first[n] == model.first[n + 1];

			assert_int_equal(callers[n],
					 leaf ? BURST_SWITCH_ENTRY_NONE : BURST_SWITCH_ENTRY_EACH);
			assert_true(callers[n] || !cycles[n]);
			assert_false(random_graph_is_on_cycle(&model, gone, n));
			if (cycles[n] == BURST_SWITCH_ENTRY_EACH)
				assert_true(is_needed(&model, cycles, n));
			if (outside[n] && !leaf)
				assert_true(cycles[n]);
			fewer += callers[n] && !cycles[n];
		}
	}
	assert_true(fewer > ROUNDS);
}

/* The paper's example: Sequitur's check, match and substitute call each other. */
static void test_papers_example(void **state)
{
	enum {
		MAIN,
		CHECK,
		MATCH,
		SUBSTITUTE,
		DELETE_DIGRAM,
		PROCEDURES
	};
	const uint32_t first[] = {0, 1, 2, 4, 6, 6};
	const uint32_t targets[] = {CHECK, MATCH, SUBSTITUTE, DELETE_DIGRAM, DELETE_DIGRAM, CHECK};
	const bool outside[PROCEDURES] = {false};
	struct direct_calls calls = {{first, targets, PROCEDURES}, outside};
	uint8_t checked[PROCEDURES];

	(void)state;
	assert_int_equal(burst_switch_entries_find(checked, &calls, BURST_SWITCH_ENTRIES_CYCLES),
			 0);
	for (uint32_t n = 0; n < PROCEDURES; n++)
		assert_int_equal(checked[n], n == MAIN	  ? BURST_SWITCH_ENTRY_OUTSIDE
					     : n == CHECK ? BURST_SWITCH_ENTRY_EACH
							  : BURST_SWITCH_ENTRY_NONE);
	assert_int_equal(burst_switch_entries_find(checked, &calls, BURST_SWITCH_ENTRIES_NONE), 0);
	for (uint32_t n = 0; n < PROCEDURES; n++)
		assert_int_equal(checked[n], BURST_SWITCH_ENTRY_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_each_loop_has_a_check),
		cmocka_unit_test(test_no_loop_has_a_check),
		cmocka_unit_test(test_each_recursion_has_a_check),
		cmocka_unit_test(test_papers_example),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
