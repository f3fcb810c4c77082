// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/turn_strides.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"

#define WAY_INSNS (TURN_STRIDE_INSNS / 4)

/*
 * @length: of each block that a search has reached: instructions up to its end; @by: the edge
 * that led to it; @seen: which search that was
 */
struct finder {
	const struct cfg *cfg;
	const struct turn_loops *loops;
	struct turn_strides *strides;
	uint32_t *length;
	uint32_t *by;
	uint32_t *seen;
	uint32_t *queue;
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

static bool is_way(const struct cfg_edge *edge)
{
	return edge->kind == CFG_EDGE_NEXT || edge->kind == CFG_EDGE_TAKEN ||
	       edge->kind == CFG_EDGE_JUMP;
}

/* Return: whether it is new, or reached with fewer instructions. */
static bool reach(struct finder *finder, uint32_t block, uint32_t length, uint32_t by,
		  uint32_t search)
{
	const struct cfg_block *to = &finder->cfg->blocks[block];

	if (to->count > WAY_INSNS || length + to->count > WAY_INSNS ||
	    (finder->seen[block] == search && finder->length[block] <= length + to->count) ||
	    !is_plain(finder->cfg, to))
		return false;
	finder->seen[block] = search;
	finder->length[block] = length + to->count;
	finder->by[block] = by;
	return true;
}

/* From where a loop begins, as far as a way may be. */
static void search_from(struct finder *finder, uint32_t header)
{
	const struct cfg *cfg = finder->cfg;
	uint32_t count = 0;

	if (!reach(finder, header, 0, UINT32_MAX, header + 1))
		return;
	finder->queue[count++] = header;
	for (uint32_t done = 0; done < count; done++) {
		uint32_t from = finder->queue[done];
		const struct cfg_block *block = &cfg->blocks[from];

		for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
			const struct cfg_edge *edge = &cfg->edges[e];

			if (!is_way(edge) || finder->loops->checked[e] ||
			    edge->to >= cfg->block_count || count == cfg->block_count ||
			    !reach(finder, edge->to, finder->length[from], e, header + 1))
				continue;
			finder->queue[count++] = edge->to;
		}
	}
}

static int add(struct finder *finder, uint32_t edge, uint32_t header)
{
	struct turn_strides *strides = finder->strides;
	uint32_t last = finder->cfg->edges[edge].from, turns = 0, count = 0;
	uint32_t *ways;

	turns = TURN_STRIDE_INSNS / finder->length[last];
	for (uint32_t b = last; b != header; b = finder->cfg->edges[finder->by[b]].from)
		count++;
	if (array_reserve(&strides->all, &strides->capacity, strides->count + 1,
			  sizeof(*strides->all)) < 0 ||
	    array_reserve(&strides->ways, &strides->way_capacity, strides->way_count + count,
			  sizeof(*strides->ways)) < 0)
		return -ENOMEM;
	ways = strides->ways + strides->way_count;
	for (uint32_t b = last, i = count; b != header; b = finder->cfg->edges[finder->by[b]].from)
		ways[--i] = finder->by[b];
	strides->all[strides->count++] = (struct turn_stride){
		.edge = edge,
		.first = (uint32_t)strides->way_count,
		.count = count,
		.turns = turns < TURN_STRIDE_TURNS ? turns : TURN_STRIDE_TURNS,
	};
	strides->way_count += count;
	return 0;
}

/* The shortest of the ways that lead back to a block. */
static int look_at(struct finder *finder, uint32_t header)
{
	const struct cfg *cfg = finder->cfg;
	const struct cfg_block *block = &cfg->blocks[header];
	uint32_t best = UINT32_MAX;
	bool searched = false;

	for (uint32_t i = block->in; i < block->in + block->in_count; i++) {
		uint32_t e = cfg->in_edges[i], from = cfg->edges[e].from;

		if (!finder->loops->checked[e] || !is_way(&cfg->edges[e]))
			continue;
		if (!searched)
			search_from(finder, header);
		searched = true;
		if (finder->seen[from] == header + 1 &&
		    (best == UINT32_MAX ||
		     finder->length[from] < finder->length[cfg->edges[best].from]))
			best = e;
	}
	return best != UINT32_MAX ? add(finder, best, header) : 0;
}

int turn_strides_find(struct turn_strides *ret, const struct cfg *cfg,
		      const struct turn_loops *loops)
{
	size_t count = cfg->block_count + (size_t)1;
	struct finder finder = {
		.cfg = cfg,
		.loops = loops,
		.strides = ret,
		.length = calloc(count, sizeof(*finder.length)),
		.by = calloc(count, sizeof(*finder.by)),
		.seen = calloc(count, sizeof(*finder.seen)),
		.queue = calloc(count, sizeof(*finder.queue)),
	};
	int r = -ENOMEM;

	*ret = (struct turn_strides){0};
	if (finder.length != NULL && finder.by != NULL && finder.seen != NULL &&
	    finder.queue != NULL) {
		r = 0;
		for (uint32_t b = 0; r == 0 && b < cfg->block_count; b++)
			r = look_at(&finder, b);
	}
	free(finder.length);
	free(finder.by);
	free(finder.seen);
	free(finder.queue);
	if (r < 0)
		turn_strides_deinit(ret);
	return r;
}

int turn_strides_add(struct turn_strides *strides, uint32_t edge, uint32_t turns)
{
	if (array_reserve(&strides->all, &strides->capacity, strides->count + 1,
			  sizeof(*strides->all)) < 0)
		return -ENOMEM;
	strides->all[strides->count++] = (struct turn_stride){.edge = edge, .turns = turns};
	return 0;
}

void turn_strides_deinit(struct turn_strides *strides)
{
	free(strides->all);
	free(strides->ways);
	*strides = (struct turn_strides){0};
}
