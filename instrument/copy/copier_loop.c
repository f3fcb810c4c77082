// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/copier.h"

static uint64_t end_of(const struct cfg *cfg, const struct cfg_block *block)
{
	const struct insn *last = &cfg->insns[block->first + block->count - 1];

	return last->address + last->bytes;
}

/* Whether control goes back along an edge. */
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

static bool falls_into(const struct cfg *cfg, uint32_t from, uint32_t to)
{
	for (uint32_t i = cfg->blocks[to].in; i < cfg->blocks[to].in + cfg->blocks[to].in_count;
	     i++) {
		const struct cfg_edge *edge = &cfg->edges[cfg->in_edges[i]];

		if (edge->kind == CFG_EDGE_NEXT && edge->from == from)
			return true;
	}
	return false;
}

/* A large loop's first blocks, one behind the other: with them an interpreter may begin all it
 * does. */
static uint32_t head_end(const struct copier *copier, uint32_t first)
{
	const struct cfg *cfg = copier->cfg;
	uint32_t end = first;

	while (end + 1 < cfg->block_count && copier->graph->node_of[end + 1] != COUNT_NONE &&
	       falls_into(cfg, end, end + 1) && is_small(cfg, first, end + 1))
		end++;
	return end;
}

/* Of loops with the same first block the largest that is small, or else its head. */
static void find_ends(struct copier *copier)
{
	const struct cfg *cfg = copier->cfg;

	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];
		uint32_t *end;

		if (!is_back(copier, edge) || !is_small(cfg, edge->to, edge->from))
			continue;
		end = &copier->loop_ends[edge->to];
		if (*end == COUNT_NONE || *end < edge->from)
			*end = edge->from;
	}
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];

		if (is_back(copier, edge) && copier->loop_ends[edge->to] == COUNT_NONE)
			copier->loop_ends[edge->to] = head_end(copier, edge->to);
	}
}

static bool is_fallen_into(const struct copier *copier, uint32_t block)
{
	const struct cfg_block *to = &copier->cfg->blocks[block];

	for (uint32_t i = to->in; i < to->in + to->in_count; i++) {
		if (copier->cfg->edges[copier->cfg->in_edges[i]].kind == CFG_EDGE_NEXT)
			return block != copier->entry;
	}
	return false;
}

/* As it is guessed. */
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

/* Of loops between two such places that which turns most. Copies that record wait at the ends of
 * paths anyhow, and there is much of them. */
void copier_loop_find(struct copier *copier)
{
	uint32_t place = COUNT_NONE, *fits;

	if (copier->source->variant == COPY_INSTRUMENTED)
		return;
	find_ends(copier);
	for (uint32_t b = 0; b < copier->cfg->block_count; b++) {
		if (copier->graph->node_of[b] == COUNT_NONE)
			continue;
		if (place == COUNT_NONE || !is_fallen_into(copier, b))
			place = b;
		fits = &copier->loop_fits[place];
		if (copier->loop_ends[b] != COUNT_NONE &&
		    (*fits == COUNT_NONE || turns(copier, b) > turns(copier, *fits)))
			*fits = b;
	}
}

void copier_loop_fit(struct copier *copier, uint32_t block)
{
	uint32_t first = copier->loop_fits[block], *last;

	if (first == COUNT_NONE)
		return;
	last = &copier->loop_lasts[copier->loop_ends[first]];
	copier->loop_nexts[first] = *last;
	*last = first;
	copier->loop_begins[first] = machine_code_label(copier->code);
	copier->loop_labels[first] = machine_code_label(copier->code);
	machine_code_fit(copier->code, copier->loop_begins[first], copier->loop_labels[first]);
}

void copier_loop_begin(struct copier *copier, uint32_t block)
{
	if (copier->loop_begins[block] != COUNT_NONE)
		machine_code_place(copier->code, copier->loop_begins[block]);
}

void copier_loop_end(struct copier *copier, uint32_t block)
{
	for (uint32_t first = copier->loop_lasts[block]; first != COUNT_NONE;
	     first = copier->loop_nexts[first])
		machine_code_place(copier->code, copier->loop_labels[first]);
}
