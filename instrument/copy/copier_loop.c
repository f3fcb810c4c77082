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

/* Of loops with the same first block the largest that is small; of others only that block, which
 * may be where an interpreter begins all it does. */
static void find_ends(struct copier *copier)
{
	for (uint32_t e = 0; e < copier->cfg->edge_count; e++) {
		const struct cfg_edge *edge = &copier->cfg->edges[e];
		uint32_t *end;

		if (!is_back(copier, edge))
			continue;
		end = &copier->loop_ends[edge->to];
		if (*end == COUNT_NONE)
			*end = edge->to;
		if (*end < edge->from && is_small(copier->cfg, edge->to, edge->from))
			*end = edge->from;
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
	uint32_t first = copier->loop_fits[block];

	if (first == COUNT_NONE)
		return;
	copier->loop_begins[first] = machine_code_label(copier->code);
	copier->loop_labels[first] = machine_code_label(copier->code);
	machine_code_fit(copier->code, copier->loop_begins[first], copier->loop_labels[first]);
}

void copier_loop_begin(struct copier *copier, uint32_t block)
{
	if (copier->loop_begins[block] != COUNT_NONE)
		machine_code_place(copier->code, copier->loop_begins[block]);
}

static void end_loop(struct copier *copier, uint32_t first, uint32_t last)
{
	if (first >= copier->cfg->block_count || copier->loop_ends[first] != last ||
	    copier->loop_labels[first] == COUNT_NONE)
		return;
	machine_code_place(copier->code, copier->loop_labels[first]);
	copier->loop_labels[first] = COUNT_NONE;
}

/* Of loops that end with the same block each. */
void copier_loop_end(struct copier *copier, uint32_t block)
{
	const struct cfg_block *last = &copier->cfg->blocks[block];

	end_loop(copier, block, block);
	for (uint32_t e = last->out; e < last->out + last->out_count; e++)
		end_loop(copier, copier->cfg->edges[e].to, block);
}
