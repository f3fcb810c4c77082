// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/copier.h"

static uint64_t end_of(const struct cfg *cfg, const struct cfg_block *block)
{
	const struct insn *last = &cfg->insns[block->first + block->count - 1];

	return last->address + last->bytes;
}

/* Return true if an edge leads backwards. */
static bool is_back(const struct copier *copier, const struct cfg_edge *edge)
{
	return (edge->kind == CFG_EDGE_TAKEN || edge->kind == CFG_EDGE_JUMP) &&
	       edge->from < copier->cfg->block_count && edge->to <= edge->from &&
	       copier->graph->node_of[edge->from] != COUNT_NONE;
}

static bool is_small(const struct cfg *cfg, uint32_t first, uint32_t last)
{
	return end_of(cfg, &cfg->blocks[last]) - cfg->insns[cfg->blocks[first].first].address <=
	       MACHINE_LINE_BYTES;
}

/* Return the last of the blocks that follow each other from @first on and fit in one line. */
static uint32_t run_end(const struct copier *copier, uint32_t first)
{
	const struct cfg *cfg = copier->cfg;
	uint32_t end = first;

	while (end + 1 < cfg->block_count && copier->graph->node_of[end + 1] != COUNT_NONE &&
	       copier_edge_is_fallen_into(copier, end + 1) && is_small(cfg, first, end + 1))
		end++;
	return end;
}

/*
 * If several loops have the same header, align the largest small one. For a large loop align the
 * first blocks: an interpreter may begin all its operations with them.
 */
static void find_loops(struct copier *copier)
{
	const struct cfg *cfg = copier->cfg;

	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];
		uint32_t *end;

		if (!is_back(copier, edge) || !is_small(cfg, edge->to, edge->from))
			continue;
		end = &copier->fits[edge->to].end;
		if (*end == COUNT_NONE || *end < edge->from)
			*end = edge->from;
	}
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];

		if (is_back(copier, edge) && copier->fits[edge->to].end == COUNT_NONE)
			copier->fits[edge->to].end = run_end(copier, edge->to);
	}
}

/* Return the estimated number of iterations. */
static double turns(const struct copier *copier, uint32_t block)
{
	const struct cfg_block *to = &copier->cfg->blocks[block];
	double weight = 0;

	for (uint32_t i = to->in; i < to->in + to->in_count; i++) {
		uint32_t edge = copier->edge_of[copier->cfg->in_edges[i]];

		if (is_back(copier, &copier->cfg->edges[copier->cfg->in_edges[i]]) &&
		    edge != COUNT_NONE)
			weight += copier->graph->edges[edge].weight;
	}
	return weight;
}

/* Return true if padding before a block is never executed. */
static bool is_place(const struct copier *copier, uint32_t block)
{
	return block == copier->entry || !copier_edge_is_fallen_into(copier, block);
}

/* Recording clones are not aligned: they wait at the ends of paths in any case, and they are
 * large. */
void copier_fit_find(struct copier *copier)
{
	uint32_t place = COUNT_NONE;
	double most = 0, weight;

	if (copier->source->variant == COPY_INSTRUMENTED)
		return;
	find_loops(copier);
	for (uint32_t b = 0; b < copier->cfg->block_count; b++) {
		if (copier->graph->node_of[b] == COUNT_NONE)
			continue;
		if (is_place(copier, b)) {
			place = b;
			copier->fits[b].first = b; /* unless there is a loop */
			most = -1;
		}
		if (place == COUNT_NONE || copier->fits[b].end == COUNT_NONE)
			continue;
		weight = turns(copier, b);
		if (weight > most) {
			copier->fits[place].first = b;
			most = weight;
		}
	}
	for (uint32_t b = 0; b < copier->cfg->block_count; b++) {
		if (copier->fits[b].first == b && copier->fits[b].end == COUNT_NONE)
			copier->fits[b].end = run_end(copier, b);
	}
}

void copier_fit_emit(struct copier *copier, uint32_t block)
{
	uint32_t number = copier->fits[block].first, *last;
	struct copier_fit *first;

	if (number == COUNT_NONE)
		return;
	first = &copier->fits[number];
	last = &copier->fits[first->end].last;
	first->next = *last;
	*last = number;
	first->begin_label = machine_code_label(copier->code);
	first->end_label = machine_code_label(copier->code);
	machine_code_fit(copier->code, first->begin_label, first->end_label);
}

void copier_fit_begin(struct copier *copier, uint32_t block)
{
	uint32_t *label = &copier->fits[block].begin_label;

	if (*label != COUNT_NONE)
		machine_code_place(copier->code, *label);
	*label = COUNT_NONE;
}

void copier_fit_end(struct copier *copier, uint32_t block)
{
	for (uint32_t first = copier->fits[block].last; first != COUNT_NONE;
	     first = copier->fits[first].next)
		machine_code_place(copier->code, copier->fits[first].end_label);
}
