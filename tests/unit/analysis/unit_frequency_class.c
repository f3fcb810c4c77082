// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cycle equivalence, compared with two independent models. On all small graphs the model is the
 * definition: after removal of one edge, the other edge is no longer on a cycle. On big graphs it
 * is random circulations: equivalent edges have equal flow in each of them.
 */
#include "tests/lib/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/graph/frequency_class.h"
#include "tests/fixtures/cfg_fixture.h"

#define EDGES_MAX 4096

/* The graph that the classes are defined on, rebuilt here; edge k has class class_of[k]. */
struct closed_graph {
	uint32_t nodes;
	uint32_t edges;
	uint32_t from[EDGES_MAX];
	uint32_t to[EDGES_MAX];
	uint32_t class_of[EDGES_MAX];
};

static struct closed_graph graph;

static void add_edge(uint32_t from, uint32_t to, uint32_t class)
{
	assert_true(graph.edges < EDGES_MAX);
	graph.from[graph.edges] = from;
	graph.to[graph.edges] = to;
	graph.class_of[graph.edges++] = class;
}

static uint32_t node_of(const struct cfg *cfg, uint32_t end, uint32_t side)
{
	if (end < cfg->block_count)
		return 3 + 2 * end + side;
	return end == CFG_ENTRY ? 0 : end == CFG_EXIT ? 1 : 2;
}

static void build_open_graph(const struct cfg *cfg, const struct frequency_classes *classes)
{
	graph.nodes = 3 + 2 * cfg->block_count;
	graph.edges = 0;
	for (uint32_t b = 0; b < cfg->block_count; b++)
		add_edge(node_of(cfg, b, 0), node_of(cfg, b, 1), classes->of_block[b]);
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		add_edge(node_of(cfg, cfg->edges[e].from, 1), node_of(cfg, cfg->edges[e].to, 0),
			 classes->of_edge[e]);
}

static void close_graph(const struct cfg *cfg, const struct frequency_classes *classes)
{
	add_edge(1, 0, classes->of_procedure);
	for (uint32_t s = 0; s < classes->stop_count; s++)
		add_edge(node_of(cfg, classes->stops[s].node, 1), 1, classes->stops[s].class);
}

/* Find the nodes that can be reached from @from without the edge @without. */
static void find_reachable(bool *reached, uint32_t from, uint32_t without)
{
	bool more = true;

	memset(reached, 0, graph.nodes);
	reached[from] = true;
	while (more) {
		more = false;
		for (uint32_t e = 0; e < graph.edges; e++) {
			if (e == without || !reached[graph.from[e]] || reached[graph.to[e]])
				continue;
			reached[graph.to[e]] = more = true;
		}
	}
}

static bool on_cycle_without(uint32_t edge, uint32_t without)
{
	bool reached[EDGES_MAX];

	find_reachable(reached, graph.to[edge], without);
	return reached[graph.from[edge]];
}

static void check_by_definition(void)
{
	bool reached[EDGES_MAX];

	find_reachable(reached, 0, UINT32_MAX);
	for (uint32_t a = 0; a < graph.edges; a++) {
		for (uint32_t b = 0; b < a; b++) {
			bool equivalent = reached[graph.from[a]] && reached[graph.from[b]] &&
					  !on_cycle_without(a, b) && !on_cycle_without(b, a);

			assert_int_equal(graph.class_of[a] == graph.class_of[b], equivalent);
		}
	}
}

/*
 * One random circulation distinguishes all classes, except with probability 2^-64. Every edge
 * outside a spanning tree gets a random flow (modulo 2^64), and the edges of the tree carry the
 * rest.
 */
static void circulate(uint64_t *flow, uint64_t *seed)
{
	static uint32_t tree_edge[EDGES_MAX], order[EDGES_MAX];
	static bool reached[EDGES_MAX], in_tree[EDGES_MAX];
	static uint64_t surplus[EDGES_MAX];
	uint32_t count = 0;

	memset(reached, 0, sizeof(reached));
	memset(in_tree, 0, sizeof(in_tree));
	memset(surplus, 0, sizeof(surplus));
	reached[0] = true;
	order[count++] = 0;
	for (uint32_t k = 0; k < count; k++) {
		for (uint32_t e = 0; e < graph.edges; e++) {
			if (graph.from[e] != order[k] || reached[graph.to[e]])
				continue;
			reached[graph.to[e]] = in_tree[e] = true;
			tree_edge[graph.to[e]] = e;
			order[count++] = graph.to[e];
		}
	}
	for (uint32_t e = 0; e < graph.edges; e++) {
		if (in_tree[e] || !reached[graph.from[e]])
			continue;
		flow[e] = unit_random(seed);
		surplus[graph.from[e]] -= flow[e];
		surplus[graph.to[e]] += flow[e];
	}
	while (count-- > 1) {
		uint32_t n = order[count];

		flow[tree_edge[n]] = -surplus[n];
		surplus[graph.from[tree_edge[n]]] += surplus[n];
	}
	assert_int_equal(surplus[0], 0);
}

static void check_by_circulation(uint64_t *seed)
{
	static uint64_t flow[EDGES_MAX], flow_of_class[EDGES_MAX];
	static bool reached[EDGES_MAX];
	static uint32_t members[EDGES_MAX];
	uint32_t classes = 0;

	find_reachable(reached, 0, UINT32_MAX);
	circulate(flow, seed);
	memset(members, 0, sizeof(members));
	for (uint32_t e = 0; e < graph.edges; e++) {
		uint32_t c = graph.class_of[e];

		if (c >= classes)
			classes = c + 1;
		if (members[c]++ == 0)
			flow_of_class[c] = flow[e];
		else
			assert_true(reached[graph.from[e]] && flow[e] == flow_of_class[c]);
	}
	for (uint32_t a = 0; a < graph.edges; a++) {
		for (uint32_t b = 0; b < a; b++) {
			if (graph.class_of[a] != graph.class_of[b] && reached[graph.from[a]] &&
			    reached[graph.from[b]])
				assert_true(flow[a] != flow[b]);
		}
	}
}

/*
 * Check that each component without an exit has exactly one stop, and that there is no other stop.
 */
static void check_stops(const struct cfg *cfg, const struct frequency_classes *classes)
{
	static bool from_entry[EDGES_MAX], here[EDGES_MAX], there[EDGES_MAX];

	find_reachable(from_entry, 0, UINT32_MAX);
	for (uint32_t n = 2; n < graph.nodes; n++) {
		uint32_t stops_here = 0, stops_reached = 0;
		bool sink = from_entry[n];

		if (!sink)
			continue;
		find_reachable(here, n, UINT32_MAX);
		for (uint32_t m = 0; m < graph.nodes; m++) {
			if (!here[m])
				continue;
			find_reachable(there, m, UINT32_MAX);
			sink = sink && there[n];
		}
		for (uint32_t s = 0; s < classes->stop_count; s++) {
			uint32_t stop = node_of(cfg, classes->stops[s].node, 1);

			stops_here += stop == n;
			stops_reached += here[stop];
		}
		if (sink)
			assert_int_equal(stops_reached, 1);
		else
			assert_int_equal(stops_here, 0);
	}
}

static void check_numbers(const struct cfg *cfg, const struct frequency_classes *classes)
{
	uint32_t next = 0;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		assert_true(classes->of_block[b] <= next);
		next += classes->of_block[b] == next;
	}
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		assert_true(classes->of_edge[e] <= next);
		next += classes->of_edge[e] == next;
	}
	assert_true(next <= classes->count && classes->of_procedure < classes->count);
}

static struct frequency_classes classes_of(const struct cfg *cfg)
{
	struct frequency_classes classes;

	assert_int_equal(frequency_classes_find(&classes, cfg), 0);
	check_numbers(cfg, &classes);
	build_open_graph(cfg, &classes);
	return classes;
}

static void check_small(uint32_t blocks, const struct cfg_fixture_edge *edges, uint32_t count)
{
	struct cfg *cfg = cfg_fixture_create(NULL, blocks, edges, count);
	struct frequency_classes classes = classes_of(cfg);

	check_stops(cfg, &classes);
	close_graph(cfg, &classes);
	check_by_definition();
	frequency_classes_deinit(&classes);
	cfg_fixture_destroy(cfg);
}

/* All graphs of up to three blocks, including infinite loops and unreachable blocks. */
static void test_all_small_graphs(void **state)
{
	struct cfg_fixture_edge edges[16];

	(void)state;
	for (uint32_t blocks = 1; blocks <= 3; blocks++) {
		uint32_t targets = blocks + 1;

		for (uint32_t bits = 0; bits < 1U << (blocks * targets); bits++) {
			uint32_t count = 0;

			edges[count++] = (struct cfg_fixture_edge){CFG_ENTRY, 0};
			for (uint32_t k = 0; k < blocks * targets; k++) {
				if ((bits >> k & 1) == 0)
					continue;
				edges[count].from = k / targets;
				edges[count++].to = k % targets < blocks ? k % targets : CFG_EXIT;
			}
			check_small(blocks, edges, count);
		}
	}
}

static uint32_t random_target(uint64_t *seed, uint32_t from, uint32_t blocks)
{
	uint64_t kind = unit_random(seed) % 100;

	if (kind < 35)
		return from + 1 < blocks ? from + 1 : CFG_EXIT;
	if (kind < 40)
		return CFG_EXIT;
	if (kind < 43)
		return CFG_UNKNOWN;
	if (kind < 47)
		return from;
	return (uint32_t)(unit_random(seed) % blocks);
}

static uint32_t random_edges(uint64_t *seed, struct cfg_fixture_edge *edges, uint32_t blocks)
{
	uint32_t count = 0;

	edges[count++] = (struct cfg_fixture_edge){CFG_ENTRY, 0};
	if (unit_random(seed) % 8 == 0)
		edges[count++] = (struct cfg_fixture_edge){CFG_ENTRY, blocks / 2};
	for (uint32_t b = 0; b < blocks; b++) {
		uint32_t out = (uint32_t)(unit_random(seed) % 16);

		out = out < 6 ? 1 : out < 15 ? 2 : (uint32_t)(unit_random(seed) % 6);
		while (out-- > 0) {
			edges[count].from = b;
			edges[count++].to = random_target(seed, b, blocks);
		}
	}
	for (uint64_t k = unit_random(seed) % 4; k > 0; k--)
		edges[count++] = (struct cfg_fixture_edge){CFG_UNKNOWN,
							   (uint32_t)(unit_random(seed) % blocks)};
	return count;
}

static void test_random_graphs_by_definition(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (unsigned int round = 0; round < 600; round++) {
		struct cfg_fixture_edge edges[64];
		uint32_t blocks = 2 + (uint32_t)(unit_random(&seed) % 7);

		check_small(blocks, edges, random_edges(&seed, edges, blocks));
	}
}

static void test_random_graphs_by_circulation(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (unsigned int round = 0; round < 200; round++) {
		static struct cfg_fixture_edge edges[EDGES_MAX];
		uint32_t blocks = 10 + (uint32_t)(unit_random(&seed) % 150);
		uint32_t count = random_edges(&seed, edges, blocks);
		struct cfg *cfg = cfg_fixture_create(NULL, blocks, edges, count);
		struct frequency_classes classes = classes_of(cfg);

		close_graph(cfg, &classes);
		check_by_circulation(&seed);
		frequency_classes_deinit(&classes);
		cfg_fixture_destroy(cfg);
	}
}

static void test_if_else_in_loop(void **state)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 1}, {1, 2}, {1, 3},	       {2, 4},
		{3, 4},		{4, 1}, {4, 5}, {5, CFG_EXIT},
	};
	struct cfg *cfg = cfg_fixture_create(NULL, 6, edges, 9);
	struct frequency_classes classes = classes_of(cfg);

	(void)state;
	assert_int_equal(classes.of_block[0], classes.of_block[5]);
	assert_int_equal(classes.of_block[0], classes.of_procedure);
	assert_int_equal(classes.of_block[1], classes.of_block[4]);
	assert_int_equal(classes.of_block[2], classes.of_edge[cfg_fixture_edge(cfg, 1, 2)]);
	assert_int_equal(classes.of_block[2], classes.of_edge[cfg_fixture_edge(cfg, 2, 4)]);
	assert_int_not_equal(classes.of_block[2], classes.of_block[3]);
	assert_int_not_equal(classes.of_block[0], classes.of_block[1]);
	assert_int_equal(classes.stop_count, 0);
	/* 0 and 5 with three edges; 1 and 4; 2 and 3 with two edges each; 4 to 1. */
	assert_int_equal(classes.count, 5);
	frequency_classes_deinit(&classes);
	cfg_fixture_destroy(cfg);
}

/*
 * An infinite idle loop: its header and its body, which is also its latch, have equal frequencies.
 */
static void test_infinite_loop(void **state)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 1}, {1, 2}, {2, 3}, {2, 4}, {3, 4}, {4, 1},
	};
	struct cfg *cfg = cfg_fixture_create(NULL, 5, edges, 7);
	struct frequency_classes classes = classes_of(cfg);

	(void)state;
	assert_int_equal(classes.stop_count, 1);
	assert_int_equal(classes.stops[0].node, 4);
	assert_int_equal(classes.stops[0].class, classes.of_block[0]);
	assert_int_equal(classes.of_block[1], classes.of_block[2]);
	assert_int_equal(classes.of_block[1], classes.of_block[4]);
	assert_int_not_equal(classes.of_block[1], classes.of_block[3]);
	assert_int_not_equal(classes.of_block[1], classes.of_block[0]);
	frequency_classes_deinit(&classes);
	cfg_fixture_destroy(cfg);
}

static void test_unreachable_is_alone(void **state)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 1}, {2, 3}, {3, 1}, {1, CFG_EXIT},
	};
	struct cfg *cfg = cfg_fixture_create(NULL, 4, edges, 5);
	struct frequency_classes classes = classes_of(cfg);

	(void)state;
	assert_int_equal(classes.of_block[0], classes.of_block[1]);
	/* One class for the loop; two blocks and two edges have classes of their own. */
	assert_int_equal(classes.count, 5);
	frequency_classes_deinit(&classes);
	cfg_fixture_destroy(cfg);
}

static void test_parallel_edges(void **state)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0},
		{0, 1},
		{0, 1},
		{1, CFG_EXIT},
	};
	struct cfg *cfg = cfg_fixture_create(NULL, 2, edges, 4);
	struct frequency_classes classes = classes_of(cfg);

	(void)state;
	assert_int_equal(classes.of_block[0], classes.of_block[1]);
	assert_int_not_equal(classes.of_edge[0], classes.of_edge[1]);
	assert_int_equal(classes.count, 3);
	frequency_classes_deinit(&classes);
	cfg_fixture_destroy(cfg);
}

/* Depth and size are not limited: a nest of 20,000 loops. */
static void test_deep_graph(void **state)
{
	enum {
		DEPTH = 20000
	};
	struct frequency_classes classes;
	uint32_t count = 0;
	struct cfg cfg = {.block_count = 2 * DEPTH};

	(void)state;
	/*
	 * Blocks d and 2 * DEPTH - 1 - d are the ends of loop d. The fixture would take quadratic
	 * time.
	 */
	cfg.edges = calloc(3 * DEPTH + 2, sizeof(*cfg.edges));
	assert_non_null(cfg.edges);
	for (uint32_t b = 0; b + 1 < 2 * DEPTH; b++)
		cfg.edges[count++] = (struct cfg_edge){.from = b, .to = b + 1};
	for (uint32_t d = 0; d < DEPTH; d++)
		cfg.edges[count++] = (struct cfg_edge){.from = 2 * DEPTH - 1 - d, .to = d};
	cfg.edges[count++] = (struct cfg_edge){.from = 2 * DEPTH - 1, .to = CFG_EXIT};
	cfg.edges[count++] = (struct cfg_edge){.from = CFG_ENTRY, .to = 0};
	cfg.edge_count = count;
	assert_int_equal(frequency_classes_find(&classes, &cfg), 0);
	for (uint32_t d = 0; d < DEPTH; d++) {
		assert_int_equal(classes.of_block[d], classes.of_block[2 * DEPTH - 1 - d]);
		if (d > 0)
			assert_int_not_equal(classes.of_block[d], classes.of_block[d - 1]);
	}
	frequency_classes_deinit(&classes);
	free(cfg.edges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_if_else_in_loop),
		cmocka_unit_test(test_infinite_loop),
		cmocka_unit_test(test_unreachable_is_alone),
		cmocka_unit_test(test_parallel_edges),
		cmocka_unit_test(test_all_small_graphs),
		cmocka_unit_test(test_random_graphs_by_definition),
		cmocka_unit_test(test_random_graphs_by_circulation),
		cmocka_unit_test(test_deep_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
