// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/turn_strides.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"

/*
 * struct place - a block, as seen from where a loop begins
 * @search:  that is known of it since; none other counts
 * @reached: from there
 */
struct place {
	uint32_t search;
	bool reached;
};

/*
 * @list: blocks that lead back, with @insns; there is room for one more than TURN_STRIDE_BODY
 * @edge: a way back with a check, if there is one
 */
struct finder {
	const struct cfg *cfg;
	const struct turn_loops *loops;
	struct turn_strides *strides;
	struct place *places;
	uint32_t list[TURN_STRIDE_BODY + 1];
	uint32_t count;
	uint32_t insns;
	uint32_t header;
	uint32_t edge;
};

static bool is_plain(const struct cfg *cfg, const struct cfg_block *block)
{
	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		const struct insn *insn = &cfg->insns[i];

		if (insn->class == INSN_SYSTEM ||
		    (insn->flow != INSN_FLOW_NEXT && insn->flow != INSN_FLOW_BRANCH &&
		     insn->flow != INSN_FLOW_JUMP))
			return false;
	}
	return true;
}

/* On within the procedure, and no table says where. */
static bool is_way(const struct cfg_edge *edge)
{
	return edge->kind == CFG_EDGE_NEXT || edge->kind == CFG_EDGE_TAKEN ||
	       edge->kind == CFG_EDGE_JUMP;
}

bool turn_strides_leads_back(const struct cfg *cfg, const struct turn_loops *loops, uint32_t header,
			     uint32_t edge)
{
	return loops->checked[edge] && is_way(&cfg->edges[edge]) && cfg->edges[edge].to == header;
}

/* Within a turn. */
static bool leads_on(const struct finder *finder, uint32_t edge)
{
	return is_way(&finder->cfg->edges[edge]) && !finder->loops->checked[edge];
}

static bool is_listed(const struct finder *finder, uint32_t block)
{
	return block < finder->cfg->block_count &&
	       finder->places[block].search == finder->header + 1;
}

/* --- bodies --------------------------------------------------------------- */

static void list_block(struct finder *finder, uint32_t block)
{
	if (block >= finder->cfg->block_count || finder->insns > TURN_STRIDE_BODY ||
	    is_listed(finder, block) || !is_plain(finder->cfg, &finder->cfg->blocks[block]))
		return;
	finder->places[block] = (struct place){.search = finder->header + 1};
	finder->list[finder->count++] = block;
	finder->insns += finder->cfg->blocks[block].count;
}

/* Blocks that lead back, from ends of turns to where they begin, unless they are too many. */
static void find_leading(struct finder *finder)
{
	const struct cfg *cfg = finder->cfg;
	const struct cfg_block *header = &cfg->blocks[finder->header];

	for (uint32_t i = header->in; i < header->in + header->in_count; i++) {
		uint32_t edge = cfg->in_edges[i];

		if (!turn_strides_leads_back(cfg, finder->loops, finder->header, edge))
			continue;
		list_block(finder, cfg->edges[edge].from);
		finder->edge = edge;
	}
	for (uint32_t n = 0; n < finder->count; n++) {
		const struct cfg_block *to = &cfg->blocks[finder->list[n]];

		if (finder->list[n] == finder->header)
			continue;
		for (uint32_t i = to->in; i < to->in + to->in_count; i++) {
			if (leads_on(finder, cfg->in_edges[i]))
				list_block(finder, cfg->edges[cfg->in_edges[i]].from);
		}
	}
}

/* Of these, which are reached. */
static void find_reached(struct finder *finder)
{
	const struct cfg *cfg = finder->cfg;
	uint32_t stack[TURN_STRIDE_BODY + 1], count = 0;

	finder->places[finder->header].reached = true;
	stack[count++] = finder->header;
	while (count > 0) {
		const struct cfg_block *block = &cfg->blocks[stack[--count]];

		for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
			uint32_t to = cfg->edges[e].to;

			if (!leads_on(finder, e) || !is_listed(finder, to) ||
			    finder->places[to].reached)
				continue;
			finder->places[to].reached = true;
			stack[count++] = to;
		}
	}
}

/* As they lie, but from where the loop begins. */
static int by_place(const void *left, const void *right, void *context)
{
	uint32_t header = *(const uint32_t *)context;
	uint32_t a = *(const uint32_t *)left - header, b = *(const uint32_t *)right - header;

	return (a > b) - (a < b);
}

/* Keeps those that are reached, in order. Return: their instructions. */
static uint32_t choose(struct finder *finder)
{
	uint32_t count = 0, insns = 0;

	for (uint32_t n = 0; n < finder->count; n++) {
		uint32_t block = finder->list[n];

		if (!finder->places[block].reached)
			continue;
		finder->list[count++] = block;
		insns += finder->cfg->blocks[block].count;
	}
	finder->count = count;
	qsort_r(finder->list, count, sizeof(*finder->list), by_place, &finder->header);
	return insns;
}

static int add(struct turn_strides *strides, uint32_t edge, const uint32_t *blocks, uint32_t count,
	       uint32_t turns)
{
	if (array_reserve(&strides->all, &strides->capacity, strides->count + 1,
			  sizeof(*strides->all)) < 0 ||
	    array_reserve(&strides->blocks, &strides->block_capacity, strides->block_count + count,
			  sizeof(*strides->blocks)) < 0)
		return -ENOMEM;
	strides->all[strides->count++] = (struct turn_stride){
		.edge = edge,
		.first = (uint32_t)strides->block_count,
		.count = count,
		.turns = turns,
	};
	for (uint32_t i = 0; i < count; i++)
		strides->blocks[strides->block_count++] = blocks[i];
	return 0;
}

static int look_at(struct finder *finder, uint32_t header)
{
	uint32_t insns, turns;

	finder->header = header;
	finder->count = 0;
	finder->insns = 0;
	find_leading(finder);
	if (!is_listed(finder, header) || finder->insns > TURN_STRIDE_BODY)
		return 0;
	find_reached(finder);
	insns = choose(finder);
	if (insns == 0)
		return 0;
	turns = TURN_STRIDE_INSNS / insns;
	return add(finder->strides, finder->edge, finder->list, finder->count,
		   turns < TURN_STRIDE_TURNS ? turns : TURN_STRIDE_TURNS);
}

/* --- all of it ------------------------------------------------------------ */

int turn_strides_find(struct turn_strides *ret, const struct cfg *cfg,
		      const struct turn_loops *loops)
{
	struct finder finder = {
		.cfg = cfg,
		.loops = loops,
		.strides = ret,
		.places = calloc(cfg->block_count + (size_t)1, sizeof(*finder.places)),
	};
	int r = -ENOMEM;

	*ret = (struct turn_strides){0};
	if (finder.places != NULL) {
		r = 0;
		for (uint32_t b = 0; r == 0 && b < cfg->block_count; b++)
			r = look_at(&finder, b);
	}
	free(finder.places);
	if (r < 0)
		turn_strides_deinit(ret);
	return r;
}

int turn_strides_add(struct turn_strides *strides, uint32_t edge, uint32_t block, uint32_t turns)
{
	return add(strides, edge, &block, 1, turns);
}

void turn_strides_deinit(struct turn_strides *strides)
{
	free(strides->all);
	free(strides->blocks);
	*strides = (struct turn_strides){0};
}
