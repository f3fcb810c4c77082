// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/flow_constraints.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"

/*
 * Nodes by number: a block's incoming side is 2b, its outgoing side 2b + 1; then entry, exit,
 * unknown. A block's class is a term of both sides.
 */
struct nodes {
	const struct cfg *cfg;
	const struct frequency_classes *classes;
	struct flow_term *terms; /* grouped by node */
	uint32_t *first;	 /* index in @terms of each node's first term */
	uint32_t count;
};

static uint32_t flow_constraints_node_of(const struct cfg *cfg, uint32_t end, uint32_t side)
{
	if (end < cfg->block_count)
		return 2 * end + side;
	return 2 * cfg->block_count + (CFG_ENTRY - end);
}

/* Calls @add for each term of each node. */
static void for_each_term(struct nodes *nodes,
			  void (*add)(struct nodes *, uint32_t, uint32_t, int32_t))
{
	const struct cfg *cfg = nodes->cfg;
	const struct frequency_classes *classes = nodes->classes;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		add(nodes, 2 * b, classes->of_block[b], -1);
		add(nodes, 2 * b + 1, classes->of_block[b], 1);
	}
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		add(nodes, flow_constraints_node_of(cfg, cfg->edges[e].from, 1),
		    classes->of_edge[e], -1);
		add(nodes, flow_constraints_node_of(cfg, cfg->edges[e].to, 0), classes->of_edge[e],
		    1);
	}
	for (uint32_t s = 0; s < classes->stop_count; s++) {
		add(nodes, flow_constraints_node_of(cfg, classes->stops[s].node, 1),
		    classes->stops[s].class, -1);
		add(nodes, flow_constraints_node_of(cfg, CFG_EXIT, 0), classes->stops[s].class, 1);
	}
	add(nodes, flow_constraints_node_of(cfg, CFG_EXIT, 0), classes->of_procedure, -1);
	add(nodes, flow_constraints_node_of(cfg, CFG_ENTRY, 1), classes->of_procedure, 1);
}

static void count_term(struct nodes *nodes, uint32_t node, uint32_t class, int32_t sign)
{
	(void)class;
	(void)sign;
	nodes->first[node + 2]++;
}

static void put_term(struct nodes *nodes, uint32_t node, uint32_t class, int32_t sign)
{
	nodes->terms[nodes->first[node + 1]++] = (struct flow_term){class, sign};
}

/* Return true if a node has terms on both sides that are not the same class. */
static bool constrains(const struct flow_term *terms, uint32_t count)
{
	bool in = false, out = false;

	for (uint32_t t = 0; t < count; t++) {
		in = in || terms[t].sign > 0;
		out = out || terms[t].sign < 0;
	}
	return in && out && !(count == 2 && terms[0].class == terms[1].class);
}

static bool is_loose(const struct cfg *cfg, uint32_t node)
{
	if (node >= 2 * cfg->block_count)
		return node == flow_constraints_node_of(cfg, CFG_UNKNOWN, 0);
	return cfg->unresolved_jumps > 0 && node % 2 == 0;
}

/* Drop the nodes without a constraint and close the gaps. */
static void keep_constraints(struct flow_constraints *ret, struct nodes *nodes)
{
	uint32_t next = 0;

	for (uint32_t n = 0; n < nodes->count; n++) {
		uint32_t begin = nodes->first[n];
		uint32_t end = nodes->first[n + 1];

		if (!constrains(nodes->terms + begin, end - begin))
			continue;
		ret->loose[ret->count] = is_loose(nodes->cfg, n);
		ret->first[ret->count++] = next;
		for (uint32_t t = begin; t < end; t++)
			nodes->terms[next++] = nodes->terms[t];
	}
	ret->first[ret->count] = next;
}

int flow_constraints_create(struct flow_constraints *ret, const struct cfg *cfg,
			    const struct frequency_classes *classes)
{
	size_t node_count = 2 * (size_t)cfg->block_count + 3;
	size_t term_count =
		2 * ((size_t)cfg->block_count + cfg->edge_count + classes->stop_count + 1);
	_cleanup_free_ uint32_t *first = calloc(node_count + 2, sizeof(*first));
	_cleanup_free_ struct flow_term *terms = malloc(term_count * sizeof(*terms));
	struct flow_constraints constraints = {
		.first = malloc((node_count + 1) * sizeof(*constraints.first)),
		.loose = malloc(node_count * sizeof(*constraints.loose)),
	};
	struct nodes nodes = {cfg, classes, terms, first, (uint32_t)node_count};

	if (first == NULL || terms == NULL || constraints.first == NULL ||
	    constraints.loose == NULL) {
		flow_constraints_deinit(&constraints);
		return -ENOMEM;
	}
	for_each_term(&nodes, count_term);
	for (size_t n = 0; n < node_count; n++)
		first[n + 2] += first[n + 1];
	for_each_term(&nodes, put_term);
	keep_constraints(&constraints, &nodes);
	constraints.terms = take_ptr(terms);
	*ret = constraints;
	return 0;
}

void flow_constraints_deinit(struct flow_constraints *constraints)
{
	free(constraints->terms);
	free(constraints->first);
	free(constraints->loose);
	*constraints = (struct flow_constraints){0};
}
