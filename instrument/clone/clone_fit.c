// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/clone.h"

static uint64_t clone_fit_end_of(const struct cfg *cfg, const struct cfg_block *block)
{
	const struct insn *last = &cfg->insns[block->first + block->count - 1];

	return last->address + last->bytes;
}

/* Return true if an edge leads backwards. */
static bool is_back(const struct clone *clone, const struct cfg_edge *edge)
{
	return (edge->kind == CFG_EDGE_TAKEN || edge->kind == CFG_EDGE_JUMP) &&
	       edge->from < clone->cfg->block_count && edge->to <= edge->from &&
	       clone->graph->node_of[edge->from] != COUNT_NONE;
}

static bool is_small(const struct cfg *cfg, uint32_t first, uint32_t last)
{
	return clone_fit_end_of(cfg, &cfg->blocks[last]) -
		       cfg->insns[cfg->blocks[first].first].address <=
	       MACHINE_LINE_BYTES;
}

/* Return the last of the blocks that follow each other from @first on and fit in one line. */
static uint32_t run_end(const struct clone *clone, uint32_t first)
{
	const struct cfg *cfg = clone->cfg;
	uint32_t end = first;

	while (end + 1 < cfg->block_count && clone->graph->node_of[end + 1] != COUNT_NONE &&
	       clone_edge_has_fall_through(clone, end + 1) && is_small(cfg, first, end + 1))
		end++;
	return end;
}

/*
 * If several loops have the same header, align the largest small one. For a large loop align the
 * first blocks: an interpreter may begin all its operations with them.
 */
static void find_loops(struct clone *clone)
{
	const struct cfg *cfg = clone->cfg;

	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];
		uint32_t *end;

		if (!is_back(clone, edge) || !is_small(cfg, edge->to, edge->from))
			continue;
		end = &clone->fits[edge->to].end;
		if (*end == COUNT_NONE || *end < edge->from)
			*end = edge->from;
	}
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];

		if (is_back(clone, edge) && clone->fits[edge->to].end == COUNT_NONE)
			clone->fits[edge->to].end = run_end(clone, edge->to);
	}
}

/* Return the estimated number of iterations. */
static double iterations(const struct clone *clone, uint32_t block)
{
	const struct cfg_block *to = &clone->cfg->blocks[block];
	double weight = 0;

	for (uint32_t i = to->in; i < to->in + to->in_count; i++) {
		uint32_t edge = clone->edge_of[clone->cfg->in_edges[i]];

		if (is_back(clone, &clone->cfg->edges[clone->cfg->in_edges[i]]) &&
		    edge != COUNT_NONE)
			weight += clone->graph->edges[edge].weight;
	}
	return weight;
}

/* Return true if padding before a block is never executed. */
static bool is_place(const struct clone *clone, uint32_t block)
{
	return block == clone->entry || !clone_edge_has_fall_through(clone, block);
}

/* Recording clones are not aligned: the code at ends of paths takes most of their time, and they
 * are large. */
void clone_fit_find(struct clone *clone)
{
	uint32_t place = COUNT_NONE;
	double most = 0, weight;

	if (clone->source->variant == CLONE_INSTRUMENTED)
		return;
	find_loops(clone);
	for (uint32_t b = 0; b < clone->cfg->block_count; b++) {
		if (clone->graph->node_of[b] == COUNT_NONE)
			continue;
		if (is_place(clone, b)) {
			place = b;
			clone->fits[b].first = b; /* unless there is a loop */
			most = -1;
		}
		if (place == COUNT_NONE || clone->fits[b].end == COUNT_NONE)
			continue;
		weight = iterations(clone, b);
		if (weight > most) {
			clone->fits[place].first = b;
			most = weight;
		}
	}
	for (uint32_t b = 0; b < clone->cfg->block_count; b++) {
		if (clone->fits[b].first == b && clone->fits[b].end == COUNT_NONE)
			clone->fits[b].end = run_end(clone, b);
	}
}

void clone_fit_emit(struct clone *clone, uint32_t block)
{
	uint32_t number = clone->fits[block].first, *last;
	struct clone_fit *first;

	if (number == COUNT_NONE)
		return;
	first = &clone->fits[number];
	last = &clone->fits[first->end].last;
	first->next = *last;
	*last = number;
	first->begin_label = machine_code_label(clone->code);
	first->end_label = machine_code_label(clone->code);
	machine_code_fit(clone->code, first->begin_label, first->end_label);
}

void clone_fit_begin(struct clone *clone, uint32_t block)
{
	uint32_t *label = &clone->fits[block].begin_label;

	if (*label != COUNT_NONE)
		machine_code_bind_label(clone->code, *label);
	*label = COUNT_NONE;
}

void clone_fit_end(struct clone *clone, uint32_t block)
{
	for (uint32_t first = clone->fits[block].last; first != COUNT_NONE;
	     first = clone->fits[first].next)
		machine_code_bind_label(clone->code, clone->fits[first].end_label);
}
