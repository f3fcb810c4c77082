// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths of random graphs: each path has a unique number, all numbers are used, and a number decodes
 * to its path. On any walk, the register holds the number of the path at each of its ends.
 */
#include "tests/lib/unit.h"

#include <string.h>

#include "instrument/paths/path_numbering.h"
#include "instrument/paths/path_webs.h"

#define GRAPHS 3000
#define NODES_MAX 12
#define EDGES_MAX 64
#define STEPS 400
#define WAYS_MAX 512
#define PATHS_MAX 20000
#define LIMIT 64
#define PART 12 /* paths starting at a node, with PARTS */

/* A graph without code. @breaks: for each node, true if the call at its end ends paths. */
struct fixture {
	struct count_graph counts;
	struct count_node nodes[400];
	struct count_edge edges[2000];
	bool breaks[400];
};

static void add(struct fixture *fixture, uint32_t from, uint32_t to, enum count_edge_kind kind,
		double weight)
{
	fixture->edges[fixture->counts.edge_count++] =
		(struct count_edge){.from = from, .to = to, .kind = kind, .weight = weight};
}

static bool breaks(void *context, uint32_t node)
{
	const struct fixture *fixture = context;

	return fixture->breaks[node];
}

enum {
	LOOPS = 1,
	EARLY = 2,
	PARTS = 4,
};

static int create(struct path_graph *graph, struct fixture *fixture, uint32_t most,
		  unsigned int how)
{
	struct path_rules rules = {.breaks = breaks,
				   .context = fixture,
				   .most = most,
				   .part = how & PARTS ? PART : 0,
				   .loops = how & LOOPS,
				   .early = how & EARLY};

	int r = path_numbering_create(graph, &fixture->counts, &rules);

	if (r == 0)
		r = path_webs_find(graph, &(struct mode_procedure){.graph = &fixture->counts},
				   false);
	return r;
}

/* Make a random graph: some nodes end with a call, some are hubs, some edges lead back or out. */
static void make(struct fixture *fixture, uint64_t *seed)
{
	uint32_t count = 1 + (uint32_t)(unit_random(seed) % NODES_MAX);

	memset(fixture, 0, sizeof(*fixture));
	fixture->counts.nodes = fixture->nodes;
	fixture->counts.edges = fixture->edges;
	fixture->counts.node_count = count;
	add(fixture, COUNT_OUTSIDE, 0, COUNT_ENTER, 1);
	for (uint32_t n = 0; n < count; n++) {
		uint32_t outs = 1 + (uint32_t)(unit_random(seed) % 3);
		bool hub = unit_random(seed) % 10 == 0;

		fixture->nodes[n].block = hub ? COUNT_NONE : n;
		if (unit_random(seed) % 15 == 0)
			add(fixture, COUNT_OUTSIDE, n, COUNT_CATCH, 1);
		if (n + 1 < count && !hub && unit_random(seed) % 4 == 0) {
			fixture->breaks[n] = unit_random(seed) % 3 == 0;
			add(fixture, n, COUNT_OUTSIDE, COUNT_CALL, 1);
			add(fixture, COUNT_OUTSIDE, n + 1, COUNT_BACK, 1);
			continue;
		}
		for (uint32_t i = 0; i < outs; i++) {
			uint32_t to = (uint32_t)(unit_random(seed) % (count + 1));

			if (unit_random(seed) % 4 != 0 && n + 1 < count)
				to = n + 1 + (uint32_t)(unit_random(seed) % (count - n - 1));
			add(fixture, n, to == count ? COUNT_OUTSIDE : to,
			    to == count ? COUNT_LEAVE : COUNT_NEXT,
			    (double)(1 + unit_random(seed) % 100));
		}
	}
}

/* Check that the number decodes to the edges of the path. */
static void check_decoded(const struct path_graph *graph, uint32_t number, uint32_t start,
			  const uint32_t *path_edges, uint32_t count)
{
	uint32_t rest = 0, node = path_graph_begin(graph, number, &rest);

	assert_int_equal(node, start);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(path_graph_next(graph, node, &rest), path_edges[i]);
		node = graph->path_edges[path_edges[i]].to;
	}
	assert_int_equal(rest, 0);
}

struct enumeration {
	const struct path_graph *graph;
	uint8_t *seen;
	uint32_t found;
	uint32_t start;
	uint32_t path_edges[WAYS_MAX];
};

static void enumerate(struct enumeration *it, uint32_t node, uint32_t number, uint32_t depth)
{
	const struct path_graph *graph = it->graph;

	assert_true(depth <= graph->node_count);
	for (uint32_t w = graph->first[node]; w < graph->first[node + 1]; w++) {
		const struct path_edge *path_edge = &graph->path_edges[w];

		it->path_edges[depth] = w;
		if (path_edge->kind == PATH_ON) {
			enumerate(it, path_edge->to, number + path_edge->value, depth + 1);
			continue;
		}
		number += path_edge->value;
		assert_true(number < graph->count);
		assert_int_equal(it->seen[number]++, 0);
		it->found++;
		check_decoded(graph, number, it->start, it->path_edges, depth + 1);
		number -= path_edge->value;
	}
}

static bool all_end(const struct path_graph *graph)
{
	for (uint32_t n = 0; n < graph->node_count; n++) {
		if (graph->first[n] == graph->first[n + 1])
			return false;
	}
	return true;
}

static void check_numbers(const struct path_graph *graph)
{
	struct enumeration it = {.graph = graph, .seen = calloc(graph->count + 1, 1)};

	for (uint32_t i = 0; i < graph->start_count; i++) {
		it.start = graph->starts[i].node;
		enumerate(&it, it.start, graph->starts[i].number, 0);
	}
	if (all_end(graph))
		assert_int_equal(it.found, graph->count);
	free(it.seen);
}

/* A simulated program: updates the register on each edge as the generated code would. */
struct machine {
	uint32_t reg;
	uint32_t start;
	uint32_t path_edges[WAYS_MAX];
	uint32_t count;
	uint32_t counted; /* number of times this path was counted */
	enum path_edge_kind as;
	uint32_t number;
	bool told; /* the number is that of this path */
	uint64_t ended;
	uint64_t spent; /* number of updates of the register */
	const struct count_edge *edges;
	bool changed;	/* true if the word may have been changed since the entry. */
	bool taken;	/* true if no other activation can use the word. */
	uint64_t fresh; /* number of exits with an unchanged word. */
	uint64_t *seed; /* NULL: no other activations interfere. */
	uint32_t older; /* an earlier value of the register. */
	bool lost;	/* true if it belongs to no path. */
	bool stale;	/* true if it may belong to another activation. */
	uint64_t lost_ends;
};

/* Another activation may have used the register in the meantime. */
static void come_between(struct machine *machine, const struct path_graph *graph, uint32_t node)
{
	if (machine->seed == NULL || node == PATH_NONE || graph->known[node])
		return;
	switch (unit_random(machine->seed) % 20) {
	case 0:
		machine->reg = graph->range.no_path;
		machine->lost = true;
		break;
	case 1:
		if (!machine->lost)
			machine->reg = machine->older;
		machine->stale = true;
		break;
	case 2:
		machine->older = machine->lost || machine->stale ? 0 : machine->reg;
		break;
	}
}

/* Check that the number is in range, and belongs to no path if the register is invalid. */
static void check_range(struct machine *machine, const struct path_graph *graph, uint32_t number)
{
	int64_t at = (int64_t)(int32_t)number + graph->range.below;

	assert_in_range(at, 0, graph->range.room - 1);
	if (machine->lost)
		assert_true(number >= graph->count);
	machine->lost_ends += machine->lost;
}

static void count(struct machine *machine, const struct path_graph *graph,
		  const struct path_edge *path_edge)
{
	machine->number = path_edge->end + (path_edge->end_known ? 0 : machine->reg);
	if (path_edge->end_known)
		machine->lost = machine->stale = false;
	check_range(machine, graph, machine->number);
	machine->told = !machine->lost && !machine->stale;
	machine->as = path_edge->counted;
	machine->counted++;
}

/* Check that a path was counted exactly once and as its kind, unless it is empty. */
static void end(struct machine *machine, const struct path_graph *graph,
		const struct path_edge *path_edge)
{
	assert_int_equal(machine->counted, path_edge->empty ? 0 : 1);
	if (path_edge->empty)
		assert_int_equal(machine->count, 1);
	else
		assert_int_equal(machine->as, path_edge->kind);
	if (machine->told && !path_edge->empty) {
		assert_true(machine->number < graph->count);
		check_decoded(graph, machine->number, machine->start, machine->path_edges,
			      machine->count);
	}
	machine->counted = machine->count = 0;
	machine->ended++;
	machine->reg = 0xdeadbeef;
}

/* Check that an activation takes the word before changing it, and releases it at its end. */
static void check_word(struct machine *machine, const struct path_edge *path_edge)
{
	if (path_edge->kind == PATH_START) {
		machine->changed = !path_edge->enters;
		machine->taken = false;
	}
	machine->taken |= path_edge->takes;
	assert_true((path_edge->change == PATH_KEEP && !path_edge->leaves) || machine->taken);
	if (path_edge->kind == PATH_END && machine->edges[path_edge->edge].kind == COUNT_LEAVE) {
		assert_true(path_edge->leaves || !machine->changed);
		machine->fresh += !path_edge->leaves;
	} else {
		assert_false(path_edge->leaves);
	}
	machine->changed |= path_edge->change != PATH_KEEP;
}

static void pass(struct machine *machine, const struct path_graph *graph, uint32_t index)
{
	const struct path_edge *path_edge = &graph->path_edges[index];

	check_word(machine, path_edge);
	if (path_edge->kind != PATH_START)
		machine->path_edges[machine->count++] = index;
	if (path_edge->counted != PATH_ON)
		count(machine, graph, path_edge);
	if (path_edge->kind == PATH_CUT || path_edge->kind == PATH_END)
		end(machine, graph, path_edge);
	if (path_edge->kind == PATH_CUT || path_edge->kind == PATH_START)
		machine->start = path_edge->to;
	if (path_edge->change == PATH_SET) {
		machine->reg = path_edge->number;
		machine->lost = machine->stale = false;
	}
	if (path_edge->change == PATH_ADD)
		machine->reg += path_edge->number;
	machine->spent += path_edge->change != PATH_KEEP;
	/* Where the number is known, the contents of the register must not matter. */
	if (path_edge->to != PATH_NONE && graph->known[path_edge->to])
		machine->reg = 0xdeadbeef;
}

static uint64_t left_fresh;

/* @disturbed: other activations interfere. Return: the number of paths that ended, or were lost. */
static uint64_t walk(const struct path_graph *graph, const struct fixture *fixture, uint64_t *seed,
		     bool disturbed)
{
	uint32_t behind = graph->first[graph->node_count];
	struct machine machine = {.edges = fixture->edges, .seed = disturbed ? seed : NULL};
	uint32_t node = PATH_NONE;

	for (int step = 0; step < STEPS; step++) {
		uint32_t path_edge;

		if (node == PATH_NONE || unit_random(seed) % 50 == 0) {
			/* entry or a caught exception: the current path never ends */
			path_edge = behind + (uint32_t)(unit_random(seed) %
							(graph->path_edge_count - behind));
			machine.counted = machine.count = 0;
		} else if (graph->first[node] == graph->first[node + 1]) {
			node = PATH_NONE;
			continue;
		} else {
			path_edge = graph->first[node] +
				    (uint32_t)(unit_random(seed) %
					       (graph->first[node + 1] - graph->first[node]));
		}
		pass(&machine, graph, path_edge);
		node = graph->path_edges[path_edge].to;
		come_between(&machine, graph, node);
	}
	if (!disturbed)
		left_fresh += machine.fresh;
	return disturbed ? machine.lost_ends : machine.ended;
}

static void test_random_graphs(void **state)
{
	uint64_t seed = 1, ended = 0, largest = 0, lost = 0, empty = 0;
	struct fixture fixture;

	(void)state;
	for (int i = 0; i < GRAPHS; i++) {
		struct path_graph graph;

		make(&fixture, &seed);
		assert_int_equal(create(&graph, &fixture, PATH_COUNT_MAX, i % 8), 0);
		for (uint32_t w = 0; w < graph.path_edge_count; w++)
			empty += graph.path_edges[w].empty;
		if (graph.count < PATHS_MAX)
			check_numbers(&graph);
		largest = graph.count > largest ? graph.count : largest;
		ended += walk(&graph, &fixture, &seed, false);
		lost += walk(&graph, &fixture, &seed, true);
		path_graph_deinit(&graph);
	}
	assert_true(lost > GRAPHS);
	assert_true(left_fresh > GRAPHS);
	assert_true(ended > GRAPHS);
	assert_true(empty > 100);
	assert_true(largest > 100);
}

/* Ball and Larus' example: A to F, six paths, five edges with values. */
static void test_known(void **state)
{
	struct fixture fixture;
	struct path_graph graph;
	uint32_t changes = 0;

	(void)state;
	memset(&fixture, 0, sizeof(fixture));
	fixture.counts = (struct count_graph){
		.nodes = fixture.nodes, .edges = fixture.edges, .node_count = 6};
	add(&fixture, COUNT_OUTSIDE, 0, COUNT_ENTER, 1);
	add(&fixture, 0, 1, COUNT_NEXT, 1);
	add(&fixture, 0, 2, COUNT_TAKEN, 1);
	add(&fixture, 1, 2, COUNT_NEXT, 1);
	add(&fixture, 1, 3, COUNT_TAKEN, 1);
	add(&fixture, 2, 3, COUNT_NEXT, 1);
	add(&fixture, 3, 4, COUNT_NEXT, 1);
	add(&fixture, 3, 5, COUNT_TAKEN, 1);
	add(&fixture, 4, 5, COUNT_NEXT, 1);
	add(&fixture, 5, COUNT_OUTSIDE, COUNT_LEAVE, 1);
	assert_int_equal(create(&graph, &fixture, PATH_COUNT_MAX, 0), 0);
	assert_int_equal(graph.count, 6);
	check_numbers(&graph);
	for (uint32_t w = 0; w < graph.path_edge_count; w++)
		changes += graph.path_edges[w].change != PATH_KEEP;
	/* A-C, B-C, B-D make it known; then one of two edges from D, or from E. */
	assert_true(changes <= 4);
	assert_true(graph.known[0] && graph.known[1]);
	assert_false(graph.known[3] || graph.known[5]);
	path_graph_deinit(&graph);
}

/* Two edges that merge without a later branch are both counted early, unless a call follows. */
static void test_early(void **state)
{
	(void)state;
	for (int call = 0; call < 2; call++) {
		struct fixture fixture;
		struct path_graph graph;
		uint32_t counted = 0, changes = 0;

		memset(&fixture, 0, sizeof(fixture));
		fixture.counts = (struct count_graph){
			.nodes = fixture.nodes, .edges = fixture.edges, .node_count = 5};
		add(&fixture, COUNT_OUTSIDE, 0, COUNT_ENTER, 1);
		add(&fixture, 0, 1, COUNT_NEXT, 1);
		add(&fixture, 0, 2, COUNT_TAKEN, 1);
		add(&fixture, 1, 3, COUNT_JUMP, 1);
		add(&fixture, 2, 3, COUNT_NEXT, 1);
		if (call) {
			add(&fixture, 3, COUNT_OUTSIDE, COUNT_CALL, 1);
			add(&fixture, COUNT_OUTSIDE, 4, COUNT_BACK, 1);
		} else {
			add(&fixture, 3, 4, COUNT_NEXT, 1);
		}
		add(&fixture, 4, COUNT_OUTSIDE, COUNT_LEAVE, 1);
		assert_int_equal(create(&graph, &fixture, PATH_COUNT_MAX, EARLY), 0);
		assert_int_equal(graph.count, 2);
		for (uint32_t w = 0; w < graph.path_edge_count; w++) {
			const struct path_edge *path_edge = &graph.path_edges[w];

			changes += path_edge->change != PATH_KEEP;
			counted += path_edge->counted != PATH_ON;
			if (path_edge->counted != PATH_ON) {
				assert_int_equal(path_edge->counted, PATH_END);
				assert_int_equal(path_edge->to, call ? 4 : 3);
				assert_int_equal(path_edge->end_known, !call);
			}
		}
		assert_int_equal(counted, call ? 1 : 2);
		assert_int_equal(changes, call ? 2 : 0);
		path_graph_deinit(&graph);
	}
}

/* Make a chain of diamonds; one side of each has twice the frequency of the other. */
static void make_diamonds(struct fixture *fixture, uint32_t count)
{
	memset(fixture, 0, sizeof(*fixture));
	fixture->counts = (struct count_graph){
		.nodes = fixture->nodes, .edges = fixture->edges, .node_count = 3 * count + 1};
	add(fixture, COUNT_OUTSIDE, 0, COUNT_ENTER, 1);
	for (uint32_t n = 0; n < count; n++) {
		add(fixture, 3 * n, 3 * n + 1, COUNT_NEXT, 1);
		add(fixture, 3 * n, 3 * n + 2, COUNT_TAKEN, 2);
		add(fixture, 3 * n + 1, 3 * n + 3, COUNT_JUMP, 1);
		add(fixture, 3 * n + 2, 3 * n + 3, COUNT_NEXT, 2);
	}
	add(fixture, 3 * count, COUNT_OUTSIDE, COUNT_LEAVE, 1);
}

/* If there are too many paths, unlikely edges are cut, and likely ones less often. */
static void test_parts(void **state)
{
	struct fixture fixture;

	(void)state;
	for (uint32_t count = 10; count <= 120; count += 10) {
		uint32_t likely = 0, unlikely = 0;
		struct path_graph graph;

		make_diamonds(&fixture, count);
		assert_int_equal(create(&graph, &fixture, PATH_COUNT_MAX, PARTS), 0);
		for (uint32_t w = 0; w < graph.path_edge_count; w++) {
			if (graph.path_edges[w].kind == PATH_CUT)
				*(graph.path_edges[w].weight > 1 ? &likely : &unlikely) += 1;
		}
		assert_true(unlikely > 0 && 3 * likely <= unlikely);
		assert_true(graph.count < count * 3 * PART);
		check_numbers(&graph);
		path_graph_deinit(&graph);
	}
}

/* A chain of diamonds has 2^@count paths: the graph is cut, and walks still decode. */
static void test_many_paths(void **state)
{
	static const uint32_t counts[] = {10, 24, 25, 27, 28, 29, 60, 130};
	struct fixture fixture;
	uint64_t seed = 2;

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct path_graph graph;
		uint32_t cut = 0;

		make_diamonds(&fixture, counts[i]);
		assert_int_equal(create(&graph, &fixture, PATH_COUNT_MAX, 0), 0);
		assert_true(graph.count <= PATH_COUNT_MAX);
		for (uint32_t w = 0; w < graph.path_edge_count; w++)
			cut += graph.path_edges[w].kind == PATH_CUT;
		assert_int_equal(cut > 0, counts[i] > 24);
		if (counts[i] <= 24)
			assert_int_equal(graph.count, UINT32_C(1) << counts[i]);
		for (int k = 0; k < 20; k++)
			walk(&graph, &fixture, &seed, k % 2 != 0);
		path_graph_deinit(&graph);
	}
}

/* Return true if a call returns to the node; such an edge does not end a path. */
static bool is_called_back(const struct path_graph *graph, uint32_t node)
{
	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		if (graph->path_edges[w].to == node && graph->path_edges[w].back != PATH_NONE)
			return true;
	}
	return false;
}

/* If edges into loops end paths, the register is not needed at the start of iterations. */
static void test_loops(void **state)
{
	uint64_t seed = 4, ended = 0, fewer = 0, changes[2] = {0};
	struct fixture fixture;

	(void)state;
	for (int i = 0; i < GRAPHS; i++) {
		struct path_graph whole, graph;

		make(&fixture, &seed);
		assert_int_equal(create(&whole, &fixture, PATH_COUNT_MAX, 0), 0);
		assert_int_equal(create(&graph, &fixture, PATH_COUNT_MAX, LOOPS), 0);
		for (uint32_t w = 0; w < whole.path_edge_count; w++) {
			uint32_t to = whole.path_edges[w].to;

			if (whole.path_edges[w].kind == PATH_CUT && !is_called_back(&whole, to))
				assert_true(graph.known[to]);
			changes[0] += whole.path_edges[w].change != PATH_KEEP;
		}
		for (uint32_t w = 0; w < graph.path_edge_count; w++)
			changes[1] += graph.path_edges[w].change != PATH_KEEP;
		fewer += graph.count < whole.count;
		if (graph.count < PATHS_MAX)
			check_numbers(&graph);
		ended += walk(&graph, &fixture, &seed, false);
		walk(&graph, &fixture, &seed, true);
		path_graph_deinit(&whole);
		path_graph_deinit(&graph);
	}
	assert_true(ended > GRAPHS && fewer > GRAPHS / 10);
	assert_true(changes[1] < changes[0]);
}

/* The number of paths is limited, and cut paths decode correctly. */
static void test_limit(void **state)
{
	uint64_t seed = 3, cut = 0;
	struct fixture fixture;

	(void)state;
	for (int i = 0; i < GRAPHS; i++) {
		struct path_graph whole, graph;

		make(&fixture, &seed);
		assert_int_equal(create(&whole, &fixture, PATH_COUNT_MAX, 0), 0);
		assert_int_equal(create(&graph, &fixture, LIMIT, i % 2 != 0 ? EARLY : 0), 0);
		if (whole.count <= LIMIT)
			assert_int_equal(graph.count, whole.count);
		else
			assert_true(graph.count <= LIMIT);
		cut += whole.count > LIMIT;
		check_numbers(&graph);
		walk(&graph, &fixture, &seed, i % 2 != 0);
		path_graph_deinit(&whole);
		path_graph_deinit(&graph);
	}
	assert_true(cut > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_graphs), cmocka_unit_test(test_known),
		cmocka_unit_test(test_many_paths),    cmocka_unit_test(test_parts),
		cmocka_unit_test(test_limit),	      cmocka_unit_test(test_loops),
		cmocka_unit_test(test_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
