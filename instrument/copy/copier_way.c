// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/copier.h"

/* Return true for the only edge to a block: its code can be the first of the block. */
static bool is_only(const struct copier *copier, const struct count_edge *edge)
{
	return (edge->kind == COUNT_TAKEN || edge->kind == COUNT_FROM_HUB) &&
	       copier->graph->nodes[edge->to].in_count == 1;
}

static uint32_t block_of(const struct copier *copier, uint32_t node)
{
	return node != COUNT_OUTSIDE ? copier->graph->nodes[node].block : COUNT_NONE;
}

/* Return how often control falls through into a block. */
static double falls(const struct copier *copier, uint32_t block)
{
	const struct cfg *cfg = copier->cfg;
	const struct cfg_block *to = &cfg->blocks[block];
	double weight = 0;

	for (uint32_t i = to->in; i < to->in + to->in_count; i++) {
		uint32_t edge = cfg->in_edges[i];

		if (cfg->edges[edge].kind == CFG_EDGE_NEXT)
			weight += copier->graph->edges[copier->edge_of[edge]].weight;
	}
	return weight;
}

static bool wants(const struct copier *copier, uint32_t edge)
{
	struct point point = copier_point_of_edge(copier, edge);

	return copier_point_wants(copier, &point);
}

/* Return true if an edge can have inline code. With two clones, this excludes checked back edges,
 * and edges from hubs, where clones can be entered. Edges to a replicated loop have code of their
 * own. */
static bool is_plain(const struct copier *copier, const struct count_edge *edge)
{
	if (edge->cfg_edge != COUNT_NONE && copier->stride_of[edge->cfg_edge] != COUNT_NONE)
		return false;
	return copier->source->variant == COPY_ONLY ||
	       (edge->kind == COUNT_TAKEN && edge->cfg_edge != COUNT_NONE &&
		!copier_turn_on_edge(copier, edge->cfg_edge));
}

void copier_way_find(struct copier *copier)
{
	const struct count_graph *graph = copier->graph;

	for (uint32_t e = 0; copier_is_usual(copier) && e < graph->edge_count; e++) {
		const struct count_edge *edge = &graph->edges[e];
		uint32_t to = block_of(copier, edge->to), *by;

		if (to == COUNT_NONE || graph->node_of[to] != edge->to || !is_plain(copier, edge) ||
		    !wants(copier, e))
			continue;
		by = &copier->before_by[to];
		if (is_only(copier, edge))
			copier->starts_by[to] = e;
		else if (edge->kind == COUNT_TAKEN &&
			 (*by == COUNT_NONE || graph->edges[*by].weight < edge->weight))
			*by = e;
	}
	for (uint32_t b = 0; b < copier->cfg->block_count; b++) {
		uint32_t *by = &copier->before_by[b];

		if (*by != COUNT_NONE && graph->edges[*by].weight <= falls(copier, b))
			*by = COUNT_NONE;
		if (*by != COUNT_NONE)
			copier->before_labels[b] = machine_code_label(copier->code);
	}
}

uint32_t copier_way_label(const struct copier *copier, uint32_t edge)
{
	uint32_t to = block_of(copier, copier->graph->edges[edge].to);

	if (to == COUNT_NONE)
		return COUNT_NONE;
	if (copier->starts_by[to] == edge)
		return copier->labels[to];
	return copier->before_by[to] == edge ? copier->before_labels[to] : COUNT_NONE;
}

static void emit(const struct copier *copier, uint32_t block, uint32_t edge)
{
	struct point point = copier_point_of_edge(copier, edge);

	copier_point_emit(copier, &point, copier->source->liveness->in[block]);
}

void copier_way_before(struct copier *copier, uint32_t block)
{
	uint32_t edge = copier->before_by[block];

	if (edge == COUNT_NONE)
		return;
	machine_code_branch(copier->code, MACHINE_JUMP, copier->labels[block]);
	machine_code_place(copier->code, copier->before_labels[block]);
	/* Use the block's frame, not the branch's, which may be in another part: rows continue in
	 * order. */
	copier_insn_frame(copier, copier->cfg->insns[copier->cfg->blocks[block].first].address);
	emit(copier, block, edge);
}

void copier_way_start(struct copier *copier, uint32_t block)
{
	if (copier->starts_by[block] != COUNT_NONE)
		emit(copier, block, copier->starts_by[block]);
}
