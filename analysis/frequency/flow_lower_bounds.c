// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/flow_lower_bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/graph/strong_components.h"
#include "lib/cleanup.h"

/* Limit on the operations for a procedure. */
#define WORK_MAX 5e6
/* Narrower intervals result from the difference between neighbouring blocks' frequencies. */
#define WIDE 10.0
/* Callers' estimates of a smaller weight are no lower bound. */
#define CALLS_WEIGHT_MIN 1.0

/*
 * The graph with an edge from the exit to the entry: both are one node, after those of the blocks.
 * CFG_UNKNOWN is the last node. Edges have the indices of the graph's edges.
 * @seen_nodes, @seen_edges: known to have run
 * @needed:    edges; without the others, paths exist through all observed code
 * @component: of each node
 * @size:      nodes of each component
 */
struct ties {
	const struct cfg *cfg;
	struct strong_graph graph;
	uint32_t *targets;
	uint32_t *component;
	uint32_t *size;
	bool *seen_nodes;
	bool *seen_edges;
	bool *needed;
};

static uint32_t flow_lower_bounds_node_of(const struct cfg *cfg, uint32_t end)
{
	if (end == CFG_UNKNOWN)
		return cfg->block_count + 1;
	return end == CFG_ENTRY || end == CFG_EXIT ? cfg->block_count : end;
}

static void take_graph(struct ties *ties, uint32_t *first)
{
	const struct cfg *cfg = ties->cfg;
	uint32_t nodes = cfg->block_count + 2;

	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		first[flow_lower_bounds_node_of(cfg, cfg->edges[e].from) + 1]++;
		ties->targets[e] = flow_lower_bounds_node_of(cfg, cfg->edges[e].to);
	}
	for (uint32_t n = 0; n < nodes; n++)
		first[n + 1] += first[n];
	ties->graph = (struct strong_graph){first, ties->targets, nodes};
}

static void take_seen(struct ties *ties, const struct procedure_profile *profile)
{
	const struct cfg *cfg = ties->cfg;

	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		if (profile->samples[i] > 0)
			ties->seen_nodes[cfg->block_of[i]] = true;
	}
	ties->seen_nodes[cfg->block_count] =
		profile->calls_in > 0 && profile->calls_in_weight >= CALLS_WEIGHT_MIN;
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		ties->seen_edges[e] =
			(profile->edge_samples != NULL && profile->edge_samples[e] > 0) ||
			(profile->edge_probes != NULL && profile->edge_probes[e] > 0);
}

static bool is_on_cycle(const struct ties *ties, uint32_t node)
{
	const struct strong_graph *graph = &ties->graph;

	if (ties->size[ties->component[node]] > 1)
		return true;
	for (uint32_t e = graph->first[node]; e < graph->first[node + 1]; e++) {
		if (ties->targets[e] == node)
			return true;
	}
	return false;
}

/* Count the observed nodes and edges that lie on a cycle. */
static int count_possible(const struct ties *ties, uint32_t *ret)
{
	const struct cfg *cfg = ties->cfg;
	uint32_t components, possible = 0;
	int r = strong_components_find(ties->component, &components, &ties->graph);

	if (r < 0)
		return r;
	for (uint32_t n = 0; n < ties->graph.nodes; n++)
		ties->size[n] = 0;
	for (uint32_t n = 0; n < ties->graph.nodes; n++)
		ties->size[ties->component[n]]++;
	for (uint32_t n = 0; n < ties->graph.nodes; n++)
		possible += ties->seen_nodes[n] && is_on_cycle(ties, n);
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		possible += ties->seen_edges[e] && ties->targets[e] != UINT32_MAX &&
			    ties->component[flow_lower_bounds_node_of(cfg, cfg->edges[e].from)] ==
				    ties->component[ties->targets[e]];
	*ret = possible;
	return 0;
}

/*
 * struct ways - shortest paths from the exit, or to it
 * @first, @edges: edges that continue from each node
 * @by:            edge by which each node was reached; NOWHERE: not reached
 * @done:          nodes whose path is already needed
 */
struct ways {
	const uint32_t *first;
	const uint32_t *edges;
	uint32_t *by;
	bool *done;
};

#define NOWHERE UINT32_MAX

static uint32_t from_of(const struct ties *ties, uint32_t edge)
{
	return flow_lower_bounds_node_of(ties->cfg, ties->cfg->edges[edge].from);
}

/* Breadth-first search; @back: against the direction of edges */
static void find_ways(struct ways *ways, const struct ties *ties, uint32_t *queue, bool back)
{
	uint32_t root = ties->cfg->block_count, count = 0;

	for (uint32_t n = 0; n < ties->graph.nodes; n++)
		ways->by[n] = NOWHERE;
	queue[count++] = root;
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = ways->first[queue[i]]; k < ways->first[queue[i] + 1]; k++) {
			uint32_t edge = ways->edges[k];
			uint32_t to = back ? from_of(ties, edge) : ties->targets[edge];

			if (to == root || ways->by[to] != NOWHERE)
				continue;
			ways->by[to] = edge;
			queue[count++] = to;
		}
	}
}

/* Return: true if there is a path. */
static bool need_way(const struct ways *ways, const struct ties *ties, uint32_t node, bool back)
{
	while (node != ties->cfg->block_count && !ways->done[node]) {
		uint32_t edge = ways->by[node];

		if (edge == NOWHERE)
			return false;
		ways->done[node] = true;
		ties->needed[edge] = true;
		node = back ? ties->targets[edge] : from_of(ties, edge);
	}
	return true;
}

/* Mark a cycle through each observed node and edge as needed. Return: true if all have one. */
static bool need_rounds(const struct ways *out, const struct ways *in, const struct ties *ties)
{
	bool all = true;

	for (uint32_t n = 0; all && n < ties->graph.nodes; n++) {
		if (ties->seen_nodes[n])
			all = need_way(out, ties, n, false) && need_way(in, ties, n, true);
	}
	for (uint32_t e = 0; all && e < ties->cfg->edge_count; e++) {
		if (!ties->seen_edges[e])
			continue;
		ties->needed[e] = true;
		all = need_way(out, ties, from_of(ties, e), false) &&
		      need_way(in, ties, ties->targets[e], true);
	}
	return all;
}

/*
 * An edge outside a set of cycles through all observed code has no lower bound, and need not be
 * removed to check that. If some observed code is on no cycle through the exit, any edge may be
 * needed.
 */
static int find_needed(struct ties *ties)
{
	uint32_t nodes = ties->graph.nodes, edges = ties->cfg->edge_count;
	_cleanup_free_ uint32_t *queue = calloc((size_t)nodes + 1, sizeof(*queue));
	_cleanup_free_ uint32_t *out_by = calloc((size_t)nodes + 1, sizeof(*out_by));
	_cleanup_free_ uint32_t *in_by = calloc((size_t)nodes + 1, sizeof(*in_by));
	_cleanup_free_ uint32_t *in_first = calloc((size_t)nodes + 1, sizeof(*in_first));
	_cleanup_free_ uint32_t *out_edges = calloc((size_t)edges + 1, sizeof(*out_edges));
	_cleanup_free_ uint32_t *in_edges = calloc((size_t)edges + 1, sizeof(*in_edges));
	_cleanup_free_ bool *out_done = calloc((size_t)nodes + 1, sizeof(*out_done));
	_cleanup_free_ bool *in_done = calloc((size_t)nodes + 1, sizeof(*in_done));
	struct ways out = {ties->graph.first, out_edges, out_by, out_done};
	struct ways in = {in_first, in_edges, in_by, in_done};

	if (queue == NULL || out_by == NULL || in_by == NULL || in_first == NULL ||
	    out_edges == NULL || in_edges == NULL || out_done == NULL || in_done == NULL)
		return -ENOMEM;
	for (uint32_t e = 0; e < edges; e++) {
		out_edges[e] = e;
		in_first[ties->targets[e]]++;
	}
	for (uint32_t n = 0; n < nodes; n++)
		in_first[n + 1] += in_first[n];
	for (uint32_t e = 0; e < edges; e++)
		in_edges[--in_first[ties->targets[e]]] = e;
	find_ways(&out, ties, queue, false);
	find_ways(&in, ties, queue, true);
	if (!need_rounds(&out, &in, ties))
		memset(ties->needed, true, edges);
	return 0;
}

static bool any_needed(const struct ties *ties, const uint32_t *edges, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (ties->needed[edges[i]])
			return true;
	}
	return false;
}

/* Return true if the interval is so wide that the execution itself is uncertain. */
static bool is_vague(const struct frequency_estimate *estimate)
{
	return estimate->high >= WIDE * estimate->low;
}

static void loosen(struct frequency_estimate *estimate)
{
	if (!is_vague(estimate))
		return;
	estimate->low = 0;
	estimate->confidence = FREQUENCY_LOW;
}

/* @edges: all edges into a block, or one edge; @all: observations that are possible with them */
static int loosen_without(struct frequency_estimate *estimate, const struct ties *ties,
			  const uint32_t *edges, uint32_t count, uint32_t all)
{
	uint32_t possible;
	int r;

	if (!is_vague(estimate))
		return 0;
	if (!any_needed(ties, edges, count)) {
		loosen(estimate);
		return 0;
	}
	for (uint32_t i = 0; i < count; i++)
		ties->targets[edges[i]] = UINT32_MAX;
	r = count_possible(ties, &possible);
	for (uint32_t i = 0; i < count; i++)
		ties->targets[edges[i]] =
			flow_lower_bounds_node_of(ties->cfg, ties->cfg->edges[edges[i]].to);
	if (r == 0 && possible == all)
		loosen(estimate);
	return r;
}

static double work(const struct ties *ties)
{
	const struct cfg *cfg = ties->cfg;
	double candidates = 0;

	for (uint32_t b = 0; b < cfg->block_count; b++)
		candidates += !ties->seen_nodes[b];
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		candidates += !ties->seen_edges[e];
	return candidates * (ties->graph.nodes + (double)cfg->edge_count);
}

static bool is_loose(const struct frequency *frequency, const struct cfg *cfg, uint32_t end)
{
	return end < cfg->block_count && frequency->blocks[end].low <= 0;
}

static int loosen_all(struct frequency *frequency, struct ties *ties)
{
	const struct cfg *cfg = ties->cfg;
	bool brief = work(ties) > WORK_MAX;
	uint32_t all;
	int r = find_needed(ties);

	if (r == 0)
		r = count_possible(ties, &all);
	for (uint32_t b = 0; r == 0 && b < cfg->block_count; b++) {
		if (ties->seen_nodes[b])
			continue;
		if (brief)
			loosen(&frequency->blocks[b]);
		else
			r = loosen_without(&frequency->blocks[b], ties,
					   &cfg->in_edges[cfg->blocks[b].in],
					   cfg->blocks[b].in_count, all);
	}
	for (uint32_t e = 0; r == 0 && e < cfg->edge_count; e++) {
		if (ties->seen_edges[e])
			continue;
		if (is_loose(frequency, cfg, cfg->edges[e].from) ||
		    is_loose(frequency, cfg, cfg->edges[e].to))
			loosen(&frequency->edges[e]);
		else if (!brief)
			r = loosen_without(&frequency->edges[e], ties, &e, 1, all);
	}
	return r;
}

int flow_lower_bounds_apply(struct frequency *frequency, const struct cfg *cfg,
			    const struct procedure_profile *profile)
{
	size_t nodes = (size_t)cfg->block_count + 2, edges = (size_t)cfg->edge_count + 1;
	_cleanup_free_ uint32_t *first = calloc(nodes + 1, sizeof(*first));
	_cleanup_free_ uint32_t *targets = calloc(edges, sizeof(*targets));
	_cleanup_free_ uint32_t *component = calloc(nodes, sizeof(*component));
	_cleanup_free_ uint32_t *size = calloc(nodes, sizeof(*size));
	_cleanup_free_ bool *seen_nodes = calloc(nodes, sizeof(*seen_nodes));
	_cleanup_free_ bool *seen_edges = calloc(edges, sizeof(*seen_edges));
	_cleanup_free_ bool *needed = calloc(edges, sizeof(*needed));
	struct ties ties = {
		.cfg = cfg,
		.targets = targets,
		.component = component,
		.size = size,
		.seen_nodes = seen_nodes,
		.seen_edges = seen_edges,
		.needed = needed,
	};

	if (first == NULL || targets == NULL || component == NULL || size == NULL ||
	    seen_nodes == NULL || seen_edges == NULL || needed == NULL)
		return -ENOMEM;
	take_graph(&ties, first);
	take_seen(&ties, profile);
	return loosen_all(frequency, &ties);
}
