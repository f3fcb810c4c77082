// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/path_register.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/mode/disjoint_sets.h"

/* Benefit of avoiding an addition where a path ends, relative to avoiding one elsewhere. */
#define END_SHARE 0.5
/* Upper bound of the range relative to the number of paths; beyond it, nothing is shifted. */
#define ROOM_SHARE 8
#define ROOM_LEAST 64

/*
 * @sum:   for each node: the sum of values on the path to it, if it is unique
 * @settled: for each node: paths have been counted before it; the kind of their end, or PATH_ON
 * @shift: for each node, and for the end of paths: the register's value minus the
 *         sum
 * @tree:  sets of connected nodes
 */
struct placement {
	struct path_graph *graph;
	uint32_t *sum;
	enum path_edge_kind *settled;
	int64_t *shift;
	uint32_t *tree;
	uint32_t *by_weight; /* edges */
	uint32_t *chosen;    /* those in the forest */
	uint32_t chosen_count;
};

static void find_known(struct placement *placement, const struct path_order *order,
		       uint8_t *path_edges_to)
{
	struct path_graph *graph = placement->graph;

	for (uint32_t i = 0; i < graph->start_count; i++) {
		path_edges_to[graph->starts[i].node] = 1;
		placement->sum[graph->starts[i].node] = graph->starts[i].number;
	}
	for (uint32_t i = order->count; i > 0; i--) {
		uint32_t node = order->nodes[i - 1];

		graph->known[node] = path_edges_to[node] == 1;
		for (uint32_t w = graph->first[node]; w < graph->first[node + 1]; w++) {
			const struct path_edge *path_edge = &graph->path_edges[w];

			if (path_edge->kind != PATH_ON)
				continue;
			path_edges_to[path_edge->to] =
				path_edges_to[path_edge->to] == 0 ? path_edges_to[node] : 2;
			placement->sum[path_edge->to] = placement->sum[node] + path_edge->value;
		}
	}
}

static bool is_start(const struct path_graph *graph, uint32_t node)
{
	return path_graph_start(graph, node) != PATH_NONE;
}

/*
 * Return the kind of end of all paths through a node, if no choice and no call are left; or
 * PATH_ON.
 */
static enum path_edge_kind rest_of(const struct placement *placement, uint32_t node)
{
	const struct path_graph *graph = placement->graph;
	const struct path_edge *path_edge = &graph->path_edges[graph->first[node]];

	if (graph->first[node + 1] - graph->first[node] != 1 || path_edge->back != PATH_NONE)
		return PATH_ON;
	return path_edge->kind == PATH_ON ? placement->settled[path_edge->to] : path_edge->kind;
}

/*
 * Paths cannot be counted before their beginning. Paths whose number is known are counted where
 * they end, which costs least.
 */
static void find_settled(struct placement *placement, const struct path_order *order)
{
	struct path_graph *graph = placement->graph;

	for (uint32_t i = 0; i < order->count; i++) {
		uint32_t node = order->nodes[i];

		if (!graph->known[node] && !is_start(graph, node))
			placement->settled[node] = rest_of(placement, node);
	}
	for (uint32_t n = 0; n < graph->node_count; n++)
		graph->known[n] |= placement->settled[n] != PATH_ON;
}

static void find_counted(struct placement *placement)
{
	struct path_graph *graph = placement->graph;

	for (uint32_t w = 0; w < graph->first[graph->node_count]; w++) {
		struct path_edge *path_edge = &graph->path_edges[w];

		if (placement->settled[path_edge->from] != PATH_ON || path_edge->empty)
			continue;
		path_edge->counted = path_edge->kind == PATH_ON ? placement->settled[path_edge->to]
								: path_edge->kind;
	}
}

/* Benefit of an edge in the forest; less than 0: it cannot be in the forest. */
static double worth(const struct path_graph *graph, const struct path_edge *path_edge)
{
	if (path_edge->from == PATH_NONE || graph->known[path_edge->from])
		return -1;
	return path_edge->counted == PATH_ON ? path_edge->weight : path_edge->weight * END_SHARE;
}

static int by_worth(const void *a, const void *b, void *context)
{
	const struct path_graph *graph = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	double x = worth(graph, &graph->path_edges[i]), y = worth(graph, &graph->path_edges[k]);

	if (x != y)
		return x > y ? -1 : 1;
	return i < k ? -1 : 1;
}

static uint32_t path_register_end_of(const struct path_graph *graph,
				     const struct path_edge *path_edge)
{
	return path_edge->counted == PATH_ON ? path_edge->to : graph->node_count;
}

/* Kruskal's algorithm. */
static void choose_forest(struct placement *placement)
{
	struct path_graph *graph = placement->graph;

	disjoint_sets_init(placement->tree, graph->node_count + 1);
	for (uint32_t w = 0; w < graph->path_edge_count; w++)
		placement->by_weight[w] = w;
	qsort_r(placement->by_weight, graph->path_edge_count, sizeof(*placement->by_weight),
		by_worth, graph);
	for (uint32_t i = 0; i < graph->path_edge_count; i++) {
		const struct path_edge *path_edge = &graph->path_edges[placement->by_weight[i]];

		if (worth(graph, path_edge) < 0)
			break;
		if (disjoint_sets_join(placement->tree, path_edge->from,
				       path_register_end_of(graph, path_edge)))
			placement->chosen[placement->chosen_count++] = placement->by_weight[i];
	}
}

/* The forest as a list of edges for each node: near[first[n]] .. near[first[n + 1] - 1]. */
struct forest {
	uint32_t *first;
	uint32_t *near;
	uint32_t *stack;
	bool *seen;
};

static void list_path_edges(const struct placement *placement, struct forest *forest)
{
	const struct path_graph *graph = placement->graph;
	uint32_t count = graph->node_count + 1;

	for (uint32_t i = 0; i < placement->chosen_count; i++) {
		const struct path_edge *path_edge = &graph->path_edges[placement->chosen[i]];

		forest->first[path_edge->from]++;
		forest->first[path_register_end_of(graph, path_edge)]++;
	}
	for (uint32_t n = 1; n <= count; n++)
		forest->first[n] += forest->first[n - 1];
	for (uint32_t i = 0; i < placement->chosen_count; i++) {
		const struct path_edge *path_edge = &graph->path_edges[placement->chosen[i]];

		forest->near[--forest->first[path_edge->from]] = placement->chosen[i];
		forest->near[--forest->first[path_register_end_of(graph, path_edge)]] =
			placement->chosen[i];
	}
}

/* Nothing is added on edges of the forest: shift(to) = shift(from) - value. */
static void shift_tree(struct placement *placement, struct forest *forest, uint32_t root)
{
	const struct path_graph *graph = placement->graph;
	uint32_t depth = 0;

	if (forest->seen[root])
		return;
	forest->seen[root] = true;
	forest->stack[depth++] = root;
	while (depth > 0) {
		uint32_t node = forest->stack[--depth];

		for (uint32_t i = forest->first[node]; i < forest->first[node + 1]; i++) {
			const struct path_edge *path_edge = &graph->path_edges[forest->near[i]];
			uint32_t to = path_register_end_of(graph, path_edge);
			uint32_t other = path_edge->from == node ? to : path_edge->from;
			int64_t value = (int64_t)path_edge->value;

			if (forest->seen[other])
				continue;
			forest->seen[other] = true;
			placement->shift[other] =
				placement->shift[node] + (other == to ? -value : value);
			forest->stack[depth++] = other;
		}
	}
}

static int find_shifts(struct placement *placement)
{
	uint32_t count = placement->graph->node_count + 1;
	struct forest forest = {.first = calloc(count + (size_t)1, sizeof(*forest.first)),
				.near = calloc(2 * (size_t)count, sizeof(*forest.near)),
				.stack = calloc(count, sizeof(*forest.stack)),
				.seen = calloc(count, sizeof(*forest.seen))};
	int r = -ENOMEM;

	if (forest.first != NULL && forest.near != NULL && forest.stack != NULL &&
	    forest.seen != NULL) {
		list_path_edges(placement, &forest);
		/* Begin with the node of the ends of paths, because it must not be shifted. */
		for (uint32_t root = count; root > 0; root--)
			shift_tree(placement, &forest, root - 1);
		r = 0;
	}
	free(forest.first);
	free(forest.near);
	free(forest.stack);
	free(forest.seen);
	return r;
}

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/*
 * Determine the numbers computed at ends of paths if a register that was set at any node, or was
 * never set, is used at another one. Return: true if their range is small enough.
 */
static bool find_range(struct placement *placement, const struct path_order *order)
{
	struct path_graph *graph = placement->graph;
	int64_t count = graph->count, least = 0, most = 0, low = 0, high = 0, after, no_path;

	for (uint32_t i = 0; i < order->count; i++) {
		uint32_t node = order->nodes[i];
		int64_t shift = placement->shift[node];

		if (graph->known[node])
			continue;
		least = lesser(least, shift);
		most = greater(most, count - 1 + shift);
		low = lesser(low, -shift);
		high = greater(high, (int64_t)order->paths[node] - 1 - shift);
	}
	after = greater(count, most + high + 1);
	no_path = after - low;
	if (no_path + high - (least + low) >= count * ROOM_SHARE + ROOM_LEAST)
		return false;
	graph->range = (struct path_range){
		.below = (uint32_t) - (least + low),
		.room = (uint32_t)(no_path + high + 1 - (least + low)),
		.no_path = (uint32_t)no_path,
		.least = least + low - high,
		.most = no_path + high - low,
	};
	return true;
}

static void place_path_edge(const struct placement *placement, struct path_edge *path_edge)
{
	const struct path_graph *graph = placement->graph;
	bool known = path_edge->from != PATH_NONE && graph->known[path_edge->from];
	uint32_t to = path_edge->to != PATH_NONE ? (uint32_t)placement->shift[path_edge->to] : 0;

	if (path_edge->counted != PATH_ON) {
		path_edge->end_known = known;
		path_edge->end =
			path_edge->value + (known ? placement->sum[path_edge->from]
						  : -(uint32_t)placement->shift[path_edge->from]);
	}
	if (path_edge->kind == PATH_END || graph->known[path_edge->to])
		return;
	if (path_edge->kind != PATH_ON) {
		path_edge->change = PATH_SET;
		path_edge->number = path_graph_start(graph, path_edge->to) + to;
	} else if (known) {
		path_edge->change = PATH_SET;
		path_edge->number = placement->sum[path_edge->from] + path_edge->value + to;
	} else {
		path_edge->number =
			path_edge->value + to - (uint32_t)placement->shift[path_edge->from];
		path_edge->change = path_edge->number != 0 ? PATH_ADD : PATH_KEEP;
	}
}

int path_register_place(struct path_graph *graph, const struct path_order *order, bool early)
{
	size_t nodes = graph->node_count + (size_t)1,
	       path_edges = graph->path_edge_count + (size_t)1;
	struct placement placement = {
		.graph = graph,
		.sum = calloc(nodes, sizeof(*placement.sum)),
		.settled = calloc(nodes, sizeof(*placement.settled)),
		.shift = calloc(nodes, sizeof(*placement.shift)),
		.tree = calloc(nodes, sizeof(*placement.tree)),
		.by_weight = calloc(path_edges, sizeof(*placement.by_weight)),
		.chosen = calloc(nodes, sizeof(*placement.chosen)),
	};
	uint8_t *path_edges_to = calloc(nodes, sizeof(*path_edges_to));
	int r = -ENOMEM;

	if (placement.sum != NULL && placement.settled != NULL && placement.shift != NULL &&
	    placement.tree != NULL && placement.by_weight != NULL && placement.chosen != NULL &&
	    path_edges_to != NULL) {
		find_known(&placement, order, path_edges_to);
		if (early)
			find_settled(&placement, order);
		find_counted(&placement);
		choose_forest(&placement);
		r = find_shifts(&placement);
	}
	if (r == 0 && !find_range(&placement, order)) {
		memset(placement.shift, 0, nodes * sizeof(*placement.shift));
		find_range(&placement, order);
	}
	for (uint32_t w = 0; r == 0 && w < graph->path_edge_count; w++)
		place_path_edge(&placement, &graph->path_edges[w]);
	free(placement.sum);
	free(placement.settled);
	free(placement.shift);
	free(placement.tree);
	free(placement.by_weight);
	free(placement.chosen);
	free(path_edges_to);
	return r;
}
