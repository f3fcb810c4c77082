// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/path_numbering.h"

#include <errno.h>
#include <stdlib.h>

#include "instrument/paths/path_register.h"
#include "lib/array.h"

/* Divisor of the limit of a node's paths, applied while the total is too large. */
#define LIMIT_STEP 4
#define PATH_NODE_MAX (UINT32_C(1) << 24)

/*
 * @order: nodes, each after its successors
 * @paths: for each node: number of paths from there on
 * @begins: for each node: paths begin there
 */
struct numbering {
	struct path_graph graph;
	const struct count_graph *counts;
	const struct path_rules *rules;
	uint32_t *order;
	uint32_t ordered;
	uint64_t *paths;
	bool *begins;
	bool *limited; /* for each edge: cut because there were too many paths */
};

/* --- edges ---------------------------------------------------------------- */

static int add_path_edge(struct path_graph *graph, struct path_edge path_edge)
{
	if (array_reserve(&graph->path_edges, &graph->path_edge_capacity,
			  graph->path_edge_count + (size_t)1, sizeof(*graph->path_edges)) < 0)
		return -ENOMEM;
	graph->path_edges[graph->path_edge_count++] = path_edge;
	return 0;
}

/*
 * Find hubs with a target outside the procedure: code that ends a path cannot be placed after them.
 */
static void find_closed(const struct count_graph *counts, bool *closed)
{
	for (uint32_t e = 0; e < counts->edge_count; e++) {
		const struct count_edge *edge = &counts->edges[e];

		if (edge->kind == COUNT_LEAVE && edge->from != COUNT_OUTSIDE &&
		    counts->nodes[edge->from].block == COUNT_NONE)
			closed[edge->from] = true;
	}
}

static bool breaks_at(const struct numbering *numbering, uint32_t node)
{
	const struct path_rules *rules = numbering->rules;

	return rules->breaks != NULL && rules->breaks(rules->context, node);
}

/* A call and the return from it are one edge, or an end and a beginning. */
static int add_call(struct numbering *numbering, uint32_t index, struct path_edge path_edge)
{
	const struct count_edge *back = &numbering->counts->edges[index + 1];
	int r;

	path_edge.to = back->to;
	if (!breaks_at(numbering, path_edge.from)) {
		path_edge.back = index + 1;
		return add_path_edge(&numbering->graph, path_edge);
	}
	path_edge.kind = PATH_END;
	path_edge.to = PATH_NONE;
	r = add_path_edge(&numbering->graph, path_edge);
	path_edge.kind = PATH_START;
	path_edge.from = PATH_NONE;
	path_edge.to = back->to;
	path_edge.edge = index + 1;
	return r == 0 ? add_path_edge(&numbering->graph, path_edge) : r;
}

static int path_numbering_add_edge(struct numbering *numbering, uint32_t index, const bool *closed)
{
	const struct count_edge *edge = &numbering->counts->edges[index];
	struct path_edge path_edge = {
		.from = edge->from,
		.to = edge->to,
		.edge = index,
		.back = PATH_NONE,
		.kind = PATH_ON,
		.weight = edge->weight,
	};

	if (edge->kind == COUNT_CALL)
		return add_call(numbering, index, path_edge);
	if (edge->kind == COUNT_BACK)
		return 0;
	if (edge->from != COUNT_OUTSIDE && closed[edge->from]) {
		if (edge->to == COUNT_OUTSIDE)
			return 0;
		path_edge.from = PATH_NONE;
		path_edge.kind = PATH_START;
	} else if (edge->from == COUNT_OUTSIDE) {
		path_edge.kind = PATH_START;
		path_edge.enters = edge->kind == COUNT_ENTER;
	} else if (edge->to == COUNT_OUTSIDE || closed[edge->to]) {
		path_edge.to = PATH_NONE;
		path_edge.kind = PATH_END;
	} else if (edge->kind == COUNT_TO_HUB && breaks_at(numbering, edge->from)) {
		path_edge.kind = PATH_CUT;
	}
	return add_path_edge(&numbering->graph, path_edge);
}

static int by_weight(const void *a, const void *b)
{
	const struct path_edge *one = a, *other = b;

	if (one->weight != other->weight)
		return one->weight > other->weight ? -1 : 1;
	return one->edge < other->edge ? -1 : 1;
}

/*
 * Sort edges by source node, the likeliest first, so that frequent paths tend to have adjacent
 * numbers and counters.
 */
static int sort_path_edges(struct path_graph *graph)
{
	struct path_edge *sorted = calloc(graph->path_edge_count + (size_t)1, sizeof(*sorted));
	uint32_t *next = calloc(graph->node_count + (size_t)2, sizeof(*next));

	if (sorted == NULL || next == NULL) {
		free(sorted);
		free(next);
		return -ENOMEM;
	}
	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		uint32_t from = graph->path_edges[w].from;

		next[(from == PATH_NONE ? graph->node_count : from) + 1]++;
	}
	for (uint32_t n = 0; n <= graph->node_count; n++) {
		next[n + 1] += next[n];
		graph->first[n] = next[n];
	}
	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		uint32_t from = graph->path_edges[w].from;

		sorted[next[from == PATH_NONE ? graph->node_count : from]++] = graph->path_edges[w];
	}
	for (uint32_t n = 0; n < graph->node_count; n++) {
		if (graph->first[n + 1] - graph->first[n] > 1)
			qsort(sorted + graph->first[n], graph->first[n + 1] - graph->first[n],
			      sizeof(*sorted), by_weight);
	}
	free(next);
	free(graph->path_edges);
	graph->path_edges = sorted;
	graph->path_edge_capacity = graph->path_edge_count + (size_t)1;
	return 0;
}

static int add_path_edges(struct numbering *numbering)
{
	const struct count_graph *counts = numbering->counts;
	bool *closed = calloc(counts->node_count + (size_t)1, sizeof(*closed));
	int r = closed != NULL ? 0 : -ENOMEM;

	if (closed != NULL)
		find_closed(counts, closed);
	for (uint32_t e = 0; r == 0 && e < counts->edge_count; e++)
		r = path_numbering_add_edge(numbering, e, closed);
	free(closed);
	return r == 0 ? sort_path_edges(&numbering->graph) : r;
}

/* --- back edges ----------------------------------------------------------- */

enum {
	UNSEEN,
	OPEN,
	DONE
};

struct search {
	uint8_t *state;
	uint32_t *next; /* for each node: the next edge to follow */
	uint32_t *stack;
};

/* Return the node where control continues: the search continues where a path ends. */
static uint32_t leads_to(const struct numbering *numbering, const struct path_edge *path_edge)
{
	const struct count_edge *edge = &numbering->counts->edges[path_edge->edge];

	return path_edge->kind == PATH_END && edge->kind == COUNT_CALL ? edge[1].to : path_edge->to;
}

static void path_numbering_search_from(struct numbering *numbering, const struct search *search,
				       uint32_t start)
{
	struct path_graph *graph = &numbering->graph;
	uint32_t depth = 0;

	if (search->state[start] != UNSEEN)
		return;
	search->state[start] = OPEN;
	search->stack[depth++] = start;
	while (depth > 0) {
		uint32_t node = search->stack[depth - 1];
		struct path_edge *path_edge;
		uint32_t to;

		if (search->next[node] == graph->first[node + 1]) {
			search->state[node] = DONE;
			numbering->order[numbering->ordered++] = node;
			depth--;
			continue;
		}
		path_edge = &graph->path_edges[search->next[node]++];
		to = leads_to(numbering, path_edge);
		if (to == PATH_NONE)
			continue;
		if (search->state[to] == OPEN && path_edge->kind == PATH_ON) {
			path_edge->kind = PATH_CUT;
		} else if (search->state[to] == UNSEEN) {
			search->state[to] = OPEN;
			search->stack[depth++] = to;
		}
	}
}

static int cut_edges_back(struct numbering *numbering)
{
	struct path_graph *graph = &numbering->graph;
	size_t count = graph->node_count + (size_t)1;
	struct search search = {.state = calloc(count, sizeof(*search.state)),
				.next = calloc(count, sizeof(*search.next)),
				.stack = calloc(count, sizeof(*search.stack))};
	int r = -ENOMEM;

	if (search.state != NULL && search.next != NULL && search.stack != NULL) {
		for (uint32_t n = 0; n < graph->node_count; n++)
			search.next[n] = graph->first[n];
		for (uint32_t w = graph->first[graph->node_count]; w < graph->path_edge_count; w++)
			path_numbering_search_from(numbering, &search, graph->path_edges[w].to);
		r = 0;
	}
	free(search.state);
	free(search.next);
	free(search.stack);
	return r;
}

/*
 * Edges into loops are cut as well as back edges. Then the number is known where an iteration
 * begins, and if the iteration has no branches, also where it ends.
 */
static void cut_edges_in(struct numbering *numbering)
{
	struct path_graph *graph = &numbering->graph;

	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		if (graph->path_edges[w].kind == PATH_CUT)
			numbering->begins[graph->path_edges[w].to] = true;
	}
	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		if (graph->path_edges[w].kind == PATH_ON &&
		    graph->path_edges[w].back == PATH_NONE &&
		    numbering->begins[graph->path_edges[w].to])
			graph->path_edges[w].kind = PATH_CUT;
	}
}

/* --- numbers -------------------------------------------------------------- */

static uint64_t paths_by(const struct numbering *numbering, const struct path_edge *path_edge)
{
	return path_edge->kind == PATH_ON ? numbering->paths[path_edge->to] : 1;
}

static void limit_path_edge(struct numbering *numbering, uint32_t path_edge)
{
	numbering->graph.path_edges[path_edge].kind = PATH_CUT;
	numbering->limited[path_edge] = true;
}

/*
 * Cutting the edges from a hub to its cases would add each case's paths twice: as one path of the
 * hub, and to the sum of the paths that begin there. Cutting all edges to the hub is as effective.
 */
static void limit_hub(struct numbering *numbering, uint32_t node)
{
	const struct path_graph *graph = &numbering->graph;

	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		if (graph->path_edges[w].to == node && graph->path_edges[w].kind == PATH_ON)
			limit_path_edge(numbering, w);
	}
}

/*
 * Return the likeliest edge of a node that continues to more than one path; PATH_NONE: there is
 * none.
 */
static uint32_t most_executed_edge(const struct numbering *numbering, uint32_t node)
{
	const struct path_graph *graph = &numbering->graph;

	for (uint32_t w = graph->first[node]; w < graph->first[node + 1]; w++) {
		if (paths_by(numbering, &graph->path_edges[w]) > 1)
			return w;
	}
	return PATH_NONE;
}

/*
 * The cost of cutting an edge is its execution count, and the benefit is the decrease in the number
 * of paths.
 */
static bool is_cut_before(const struct numbering *numbering, uint32_t one, uint32_t other)
{
	const struct path_edge *path_edges = numbering->graph.path_edges;

	return path_edges[one].weight * (double)(paths_by(numbering, &path_edges[other]) - 1) <
	       path_edges[other].weight * (double)(paths_by(numbering, &path_edges[one]) - 1);
}

/* Return the next edge to cut, other than @keep; PATH_NONE: there is none. */
static uint32_t next_cut(const struct numbering *numbering, uint32_t node, uint32_t keep)
{
	const struct path_graph *graph = &numbering->graph;
	uint32_t ret = PATH_NONE;

	for (uint32_t w = graph->first[node]; w < graph->first[node + 1]; w++) {
		if (w != keep && paths_by(numbering, &graph->path_edges[w]) > 1 &&
		    (ret == PATH_NONE || is_cut_before(numbering, w, ret)))
			ret = w;
	}
	return ret;
}

/* Limit the number of paths from a node. The likeliest edge is cut last. */
static void limit_node(struct numbering *numbering, uint32_t node, uint64_t limit)
{
	const struct path_graph *graph = &numbering->graph;
	uint32_t keep = most_executed_edge(numbering, node), path_edge;
	uint64_t sum = 0;

	for (uint32_t w = graph->first[node]; w < graph->first[node + 1]; w++)
		sum += paths_by(numbering, &graph->path_edges[w]);
	if (sum > limit && numbering->counts->nodes[node].block == COUNT_NONE) {
		limit_hub(numbering, node);
		limit = numbering->rules->most / 2;
	}
	while (sum > limit) {
		path_edge = next_cut(numbering, node, keep);
		if (path_edge == PATH_NONE)
			break;
		sum -= paths_by(numbering, &graph->path_edges[path_edge]) - 1;
		limit_path_edge(numbering, path_edge);
	}
	if (keep != PATH_NONE && sum > limit)
		limit_path_edge(numbering, keep);
}

static void number_node(struct numbering *numbering, uint32_t node)
{
	struct path_graph *graph = &numbering->graph;
	uint64_t sum = 0;

	for (uint32_t w = graph->first[node]; w < graph->first[node + 1]; w++) {
		struct path_edge *path_edge = &graph->path_edges[w];

		path_edge->value = (uint32_t)sum;
		sum += paths_by(numbering, path_edge);
	}
	numbering->paths[node] = sum > 0 ? sum : 1;
}

/* Number all nodes. Return: the number of paths. */
static uint64_t number_all(struct numbering *numbering, uint64_t limit)
{
	struct path_graph *graph = &numbering->graph;
	uint64_t sum = 0;

	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		if (numbering->limited[w])
			graph->path_edges[w].kind = PATH_ON;
		numbering->limited[w] = false;
	}
	for (uint32_t i = 0; i < numbering->ordered; i++) {
		limit_node(numbering, numbering->order[i], limit);
		number_node(numbering, numbering->order[i]);
	}
	for (uint32_t n = 0; n < graph->node_count; n++)
		numbering->begins[n] = false;
	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		if (graph->path_edges[w].kind == PATH_START ||
		    graph->path_edges[w].kind == PATH_CUT)
			numbering->begins[graph->path_edges[w].to] = true;
	}
	graph->start_count = 0;
	for (uint32_t n = 0; n < graph->node_count; n++) {
		if (!numbering->begins[n])
			continue;
		graph->starts[graph->start_count++] =
			(struct path_start){.node = n, .number = (uint32_t)sum};
		sum += numbering->paths[n];
	}
	return sum;
}

static int number(struct numbering *numbering)
{
	uint32_t most = numbering->rules->most;
	uint64_t limit = most < PATH_NODE_MAX ? most : PATH_NODE_MAX, count;

	if (numbering->rules->part != 0 && numbering->rules->part < limit)
		limit = numbering->rules->part;

	do {
		count = number_all(numbering, limit);
		limit /= LIMIT_STEP;
	} while (count > most && limit > 0);
	if (count > PATH_COUNT_MAX)
		return -ERANGE;
	numbering->graph.count = (uint32_t)count;
	return 0;
}

/* Mark the edges of hubs that are reached only by edges that end a path before the hub. */
static int find_empty(struct numbering *numbering)
{
	struct path_graph *graph = &numbering->graph;
	bool *reached = calloc(graph->node_count + (size_t)1, sizeof(*reached));

	if (reached == NULL)
		return -ENOMEM;
	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		if (graph->path_edges[w].kind == PATH_ON)
			reached[graph->path_edges[w].to] = true;
	}
	for (uint32_t n = 0; n < graph->node_count; n++) {
		if (numbering->counts->nodes[n].block != COUNT_NONE || reached[n])
			continue;
		for (uint32_t w = graph->first[n]; w < graph->first[n + 1]; w++)
			graph->path_edges[w].empty = graph->path_edges[w].kind == PATH_CUT;
	}
	free(reached);
	return 0;
}

/* --- interface ------------------------------------------------------------ */

int path_numbering_create(struct path_graph *ret, const struct count_graph *graph,
			  const struct path_rules *rules)
{
	size_t nodes = graph->node_count + (size_t)2;
	struct numbering numbering = {
		.graph = {.node_count = graph->node_count,
			  .first = calloc(nodes, sizeof(uint32_t)),
			  .starts = calloc(nodes, sizeof(struct path_start)),
			  .known = calloc(nodes, sizeof(bool))},
		.counts = graph,
		.rules = rules,
		.order = calloc(nodes, sizeof(*numbering.order)),
		.paths = calloc(nodes, sizeof(*numbering.paths)),
		.begins = calloc(nodes, sizeof(*numbering.begins)),
	};
	int r = -ENOMEM;

	if (numbering.graph.first != NULL && numbering.graph.starts != NULL &&
	    numbering.graph.known != NULL && numbering.order != NULL && numbering.paths != NULL &&
	    numbering.begins != NULL)
		r = add_path_edges(&numbering);
	if (r == 0) {
		numbering.limited = calloc(numbering.graph.path_edge_count + (size_t)1,
					   sizeof(*numbering.limited));
		r = numbering.limited != NULL ? cut_edges_back(&numbering) : -ENOMEM;
	}
	if (r == 0 && rules->loops)
		cut_edges_in(&numbering);
	if (r == 0)
		r = number(&numbering);
	if (r == 0)
		r = find_empty(&numbering);
	if (r == 0)
		r = path_register_place(&numbering.graph,
					&(struct path_order){.nodes = numbering.order,
							     .paths = numbering.paths,
							     .count = numbering.ordered},
					rules->early);
	free(numbering.order);
	free(numbering.paths);
	free(numbering.begins);
	free(numbering.limited);
	if (r < 0)
		path_graph_deinit(&numbering.graph);
	else
		*ret = numbering.graph;
	return r;
}
