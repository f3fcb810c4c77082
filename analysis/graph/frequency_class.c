// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/frequency_class.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/graph/cycle_equivalence.h"
#include "analysis/graph/strong_components.h"
#include "lib/cleanup.h"

#define NONE UINT32_MAX

/*
 * Nodes: block b is an edge from 2b to 2b + 1; after the blocks come entry, exit and unknown.
 * Edges: blocks, the graph's edges, exit to entry, stops.
 */
struct split_graph {
	const struct cfg *cfg;
	struct graph_edge *edges;
	uint32_t *component; /* of each node; NONE: unreachable */
	uint32_t *order;     /* in which nodes are found from the entry; NONE: unreachable */
	uint32_t node_count;
	uint32_t edge_count; /* without exit to entry and stops, which come last */
	uint32_t entry;
	uint32_t exit;
	uint32_t unknown;
	uint32_t component_count;
};

static void split_graph_deinit(struct split_graph *graph)
{
	free(graph->edges);
	free(graph->component);
	free(graph->order);
}

static uint32_t frequency_class_node_of(const struct split_graph *graph, uint32_t end,
					uint32_t side)
{
	switch (end) {
	case CFG_ENTRY:
		return graph->entry;
	case CFG_EXIT:
		return graph->exit;
	case CFG_UNKNOWN:
		return graph->unknown;
	default:
		return 2 * end + side;
	}
}

static int split_graph_init(struct split_graph *graph, const struct cfg *cfg)
{
	uint32_t blocks = cfg->block_count;

	*graph = (struct split_graph){
		.cfg = cfg,
		.node_count = 2 * blocks + 3,
		.edge_count = blocks + cfg->edge_count,
		.entry = 2 * blocks,
		.exit = 2 * blocks + 1,
		.unknown = 2 * blocks + 2,
	};
	/* At most one stop for each node, and exit to entry. */
	graph->edges =
		calloc((size_t)graph->edge_count + graph->node_count + 1, sizeof(*graph->edges));
	graph->component = malloc(graph->node_count * sizeof(*graph->component));
	graph->order = malloc(graph->node_count * sizeof(*graph->order));
	if (graph->edges == NULL || graph->component == NULL || graph->order == NULL)
		return -ENOMEM;
	memset(graph->component, 0xff, graph->node_count * sizeof(*graph->component));
	memset(graph->order, 0xff, graph->node_count * sizeof(*graph->order));
	for (uint32_t b = 0; b < blocks; b++)
		graph->edges[b] = (struct graph_edge){2 * b, 2 * b + 1};
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		graph->edges[blocks + e] = (struct graph_edge){
			frequency_class_node_of(graph, cfg->edges[e].from, 1),
			frequency_class_node_of(graph, cfg->edges[e].to, 0),
		};
	}
	return 0;
}

/* Targets of each node's edges, and nodes in the order of a breadth-first search. */
struct search {
	uint32_t *first;
	uint32_t *targets;
	uint32_t *queue;
};

static void list_targets(const struct search *search, const struct split_graph *graph)
{
	for (uint32_t e = 0; e < graph->edge_count; e++)
		search->first[graph->edges[e].from + 2]++;
	for (uint32_t n = 0; n < graph->node_count; n++)
		search->first[n + 2] += search->first[n + 1];
	for (uint32_t e = 0; e < graph->edge_count; e++)
		search->targets[search->first[graph->edges[e].from + 1]++] = graph->edges[e].to;
}

static void find_reachable(const struct search *search, struct split_graph *graph)
{
	uint32_t count = 0;

	graph->order[graph->entry] = 0;
	search->queue[count++] = graph->entry;
	for (uint32_t k = 0; k < count; k++) {
		uint32_t n = search->queue[k];

		for (uint32_t t = search->first[n]; t < search->first[n + 1]; t++) {
			uint32_t to = search->targets[t];

			if (graph->order[to] != NONE)
				continue;
			graph->order[to] = count;
			search->queue[count++] = to;
		}
	}
}

static int find_components(struct split_graph *graph)
{
	size_t nodes = graph->node_count;
	_cleanup_free_ uint32_t *memory =
		calloc(2 * nodes + 2 + graph->edge_count, sizeof(*memory));
	struct search search = {.first = memory};
	struct strong_graph strong;
	int r;

	if (memory == NULL)
		return -ENOMEM;
	search.queue = memory + nodes + 2;
	search.targets = search.queue + nodes;
	list_targets(&search, graph);
	find_reachable(&search, graph);
	strong = (struct strong_graph){search.first, search.targets, graph->node_count};
	r = strong_components_find(graph->component, &graph->component_count, &strong);
	if (r < 0)
		return r;
	for (uint32_t n = 0; n < graph->node_count; n++) {
		if (graph->order[n] == NONE)
			graph->component[n] = NONE;
	}
	return 0;
}

/*
 * Find the stops of components without outgoing edges: the last node with an edge back to the node
 * where the component was entered, or the only node. NONE: the component has outgoing edges.
 */
static int find_stops(const struct split_graph *graph, uint32_t *stop_of)
{
	_cleanup_free_ uint32_t *header =
		malloc(((size_t)graph->component_count + 1) * sizeof(*header));

	if (header == NULL)
		return -ENOMEM;
	memset(header, 0xff, graph->component_count * sizeof(*header));
	memset(stop_of, 0xff, graph->component_count * sizeof(*stop_of));
	for (uint32_t n = 0; n < graph->node_count; n++) {
		uint32_t c = graph->component[n];

		if (c != NONE && (header[c] == NONE || graph->order[n] < graph->order[header[c]]))
			header[c] = stop_of[c] = n;
	}
	for (uint32_t e = 0; e < graph->edge_count; e++) {
		uint32_t from = graph->edges[e].from;
		uint32_t c = graph->component[from];

		if (c == NONE || stop_of[c] == NONE)
			continue;
		if (graph->component[graph->edges[e].to] != c)
			stop_of[c] = NONE;
		else if (graph->edges[e].to == header[c] &&
			 (stop_of[c] == header[c] || from > stop_of[c]))
			stop_of[c] = from;
	}
	stop_of[graph->component[graph->entry]] = NONE;
	if (graph->component[graph->exit] != NONE)
		stop_of[graph->component[graph->exit]] = NONE;
	return 0;
}

/* Append the edges that make the graph strongly connected. */
static int close_graph(struct split_graph *graph, struct frequency_classes *classes)
{
	_cleanup_free_ uint32_t *stop_of =
		malloc(((size_t)graph->component_count + 1) * sizeof(*stop_of));
	uint32_t count = 0;

	if (stop_of == NULL || find_stops(graph, stop_of) < 0)
		return -ENOMEM;
	graph->edges[graph->edge_count] = (struct graph_edge){graph->exit, graph->entry};
	for (uint32_t c = 0; c < graph->component_count; c++)
		count += stop_of[c] != NONE;
	classes->stops = calloc((size_t)count + 1, sizeof(*classes->stops));
	if (classes->stops == NULL)
		return -ENOMEM;
	for (uint32_t c = 0; c < graph->component_count; c++) {
		uint32_t n = stop_of[c];

		if (n == NONE)
			continue;
		classes->stops[classes->stop_count++].node =
			n == graph->unknown ? CFG_UNKNOWN : n / 2;
		graph->edges[graph->edge_count + classes->stop_count] =
			(struct graph_edge){n, graph->exit};
	}
	return 0;
}

/* Renumber classes by first appearance. Each unreached block or edge is a class of its own. */
static int number_classes(struct frequency_classes *classes, const struct split_graph *graph,
			  uint32_t *found, uint32_t found_count)
{
	_cleanup_free_ uint32_t *number = malloc(((size_t)found_count + 1) * sizeof(*number));
	const struct cfg *cfg = graph->cfg;

	if (number == NULL)
		return -ENOMEM;
	memset(number, 0xff, found_count * sizeof(*number));
	for (uint32_t e = 0; e < found_count; e++) {
		uint32_t class = found[e];

		if (class == NONE)
			found[e] = classes->count++;
		else if (number[class] == NONE)
			found[e] = number[class] = classes->count++;
		else
			found[e] = number[class];
	}
	memcpy(classes->of_block, found, cfg->block_count * sizeof(*found));
	memcpy(classes->of_edge, found + cfg->block_count, cfg->edge_count * sizeof(*found));
	classes->of_procedure = found[graph->edge_count];
	for (uint32_t s = 0; s < classes->stop_count; s++)
		classes->stops[s].class = found[graph->edge_count + 1 + s];
	return 0;
}

static int find_classes(struct frequency_classes *classes, struct split_graph *graph)
{
	_cleanup_free_ uint32_t *found = NULL;
	uint32_t count;
	int r = find_components(graph);

	if (r == 0)
		r = close_graph(graph, classes);
	if (r < 0)
		return r;
	count = graph->edge_count + 1 + classes->stop_count;
	found = malloc(count * sizeof(*found));
	if (found == NULL)
		return -ENOMEM;
	memset(found, 0xff, count * sizeof(*found));
	/*
	 * Edges out of unreachable code carry no flow; remove them, because they would connect it
	 * to the rest.
	 */
	for (uint32_t e = 0; e < graph->edge_count; e++) {
		if (graph->component[graph->edges[e].from] == NONE)
			graph->edges[e].to = graph->edges[e].from;
	}
	r = cycle_equivalence_find(found, graph->node_count, graph->edges, count, graph->entry);
	return r < 0 ? r : number_classes(classes, graph, found, count);
}

int frequency_classes_find(struct frequency_classes *ret, const struct cfg *cfg)
{
	struct frequency_classes classes = {0};
	struct split_graph graph;
	int r = split_graph_init(&graph, cfg);

	classes.of_block = calloc((size_t)cfg->block_count + 1, sizeof(*classes.of_block));
	classes.of_edge = calloc((size_t)cfg->edge_count + 1, sizeof(*classes.of_edge));
	if (classes.of_block == NULL || classes.of_edge == NULL)
		r = -ENOMEM;
	if (r == 0)
		r = find_classes(&classes, &graph);
	split_graph_deinit(&graph);
	if (r < 0) {
		frequency_classes_deinit(&classes);
		return r;
	}
	*ret = classes;
	return 0;
}

void frequency_classes_deinit(struct frequency_classes *classes)
{
	free(classes->of_block);
	free(classes->of_edge);
	free(classes->stops);
	*classes = (struct frequency_classes){0};
}
