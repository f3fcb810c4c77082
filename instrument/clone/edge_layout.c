// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/clone.h"

/* Return true for the only edge to a block: its code can be the first of the block. */
static bool is_only(const struct clone *clone, const struct count_edge *edge)
{
	return (edge->kind == COUNT_TAKEN || edge->kind == COUNT_FROM_HUB) &&
	       clone->graph->nodes[edge->to].in_count == 1;
}

static uint32_t block_of(const struct clone *clone, uint32_t node)
{
	return node != COUNT_OUTSIDE ? clone->graph->nodes[node].block : COUNT_NONE;
}

/* Return how often control falls through into a block. */
static double falls(const struct clone *clone, uint32_t block)
{
	const struct cfg *cfg = clone->cfg;
	const struct cfg_block *to = &cfg->blocks[block];
	double weight = 0;

	for (uint32_t i = to->in; i < to->in + to->in_count; i++) {
		uint32_t edge = cfg->in_edges[i];

		if (cfg->edges[edge].kind == CFG_EDGE_NEXT)
			weight += clone->graph->edges[clone->edge_of[edge]].weight;
	}
	return weight;
}

static bool edge_has_code(const struct clone *clone, uint32_t edge)
{
	struct point point = clone_point_of_edge(clone, edge);

	return clone_point_has_code(clone, &point);
}

/* Return true if an edge can have inline code. With two clones, this excludes checked back edges,
 * and edges from hubs, where clones can be entered. Edges to a replicated loop have code of their
 * own. */
static bool edge_layout_is_plain(const struct clone *clone, const struct count_edge *edge)
{
	if (edge->cfg_edge != COUNT_NONE && clone->stride_of[edge->cfg_edge] != COUNT_NONE)
		return false;
	return clone->source->variant == CLONE_ONLY ||
	       (edge->kind == COUNT_TAKEN && edge->cfg_edge != COUNT_NONE &&
		!clone_switch_on_edge(clone, edge->cfg_edge));
}

void edge_layout_find(struct clone *clone)
{
	const struct count_graph *graph = clone->graph;

	for (uint32_t e = 0; clone_is_usual(clone) && e < graph->edge_count; e++) {
		const struct count_edge *edge = &graph->edges[e];
		uint32_t to = block_of(clone, edge->to), *by;

		if (to == COUNT_NONE || graph->node_of[to] != edge->to ||
		    !edge_layout_is_plain(clone, edge) || !edge_has_code(clone, e))
			continue;
		by = &clone->before_by[to];
		if (is_only(clone, edge))
			clone->starts_by[to] = e;
		else if (edge->kind == COUNT_TAKEN &&
			 (*by == COUNT_NONE || graph->edges[*by].weight < edge->weight))
			*by = e;
	}
	for (uint32_t b = 0; b < clone->cfg->block_count; b++) {
		uint32_t *by = &clone->before_by[b];

		if (*by != COUNT_NONE && graph->edges[*by].weight <= falls(clone, b))
			*by = COUNT_NONE;
		if (*by != COUNT_NONE)
			clone->before_labels[b] = machine_code_label(clone->code);
	}
}

uint32_t edge_layout_label(const struct clone *clone, uint32_t edge)
{
	uint32_t to = block_of(clone, clone->graph->edges[edge].to);

	if (to == COUNT_NONE)
		return COUNT_NONE;
	if (clone->starts_by[to] == edge)
		return clone->labels[to];
	return clone->before_by[to] == edge ? clone->before_labels[to] : COUNT_NONE;
}

static void emit(const struct clone *clone, uint32_t block, uint32_t edge)
{
	struct point point = clone_point_of_edge(clone, edge);

	clone_point_emit(clone, &point, clone->source->liveness->in[block]);
}

void edge_layout_before(struct clone *clone, uint32_t block)
{
	uint32_t edge = clone->before_by[block];

	if (edge == COUNT_NONE)
		return;
	machine_code_branch(clone->code, MACHINE_JUMP, clone->labels[block]);
	machine_code_bind_label(clone->code, clone->before_labels[block]);
	/* Use the block's frame, not the branch's, which may be in another part: rows continue in
	 * order. */
	clone_insn_frame(clone, clone->cfg->insns[clone->cfg->blocks[block].first].address);
	emit(clone, block, edge);
}

void edge_layout_start(struct clone *clone, uint32_t block)
{
	if (clone->starts_by[block] != COUNT_NONE)
		emit(clone, block, clone->starts_by[block]);
}
