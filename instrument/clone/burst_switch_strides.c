// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/burst_switch_strides.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"

/* Maximum number of blocks examined near a loop's header. */
#define NEAR 64
#define FAR UINT32_MAX

/*
 * struct place - a block near the header
 * @from_header: minimum number of instructions from the header to the block's end
 * @to_back_edge: minimum number of instructions from the block's start to the end of a back edge
 */
struct place {
	uint32_t block;
	uint32_t from_header;
	uint32_t to_back_edge;
};

/*
 * @near:   the examined blocks, @count of them
 * @near_of: for each block: its index in @near, if that place is of this block
 * @header: of the loop
 * @edge:   a checked back edge
 */
struct finder {
	const struct cfg *cfg;
	const struct burst_switch_loops *loops;
	struct burst_switch_strides *strides;
	struct place near[NEAR];
	uint32_t *near_of;
	uint32_t count;
	uint32_t header;
	uint32_t edge;
};

static bool burst_switch_strides_is_plain(const struct cfg *cfg, const struct cfg_block *block)
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

/* Return true for an edge within the procedure that is not of a jump table. */
static bool is_direct_edge(const struct cfg_edge *edge)
{
	return edge->kind == CFG_EDGE_NEXT || edge->kind == CFG_EDGE_TAKEN ||
	       edge->kind == CFG_EDGE_JUMP;
}

bool burst_switch_strides_leads_back(const struct cfg *cfg, const struct burst_switch_loops *loops,
				     uint32_t header, uint32_t edge)
{
	return loops->checked[edge] && is_direct_edge(&cfg->edges[edge]) &&
	       cfg->edges[edge].to == header;
}

/* Return true if an edge stays within an iteration. */
static bool stays_in_iteration(const struct finder *finder, uint32_t edge)
{
	return is_direct_edge(&finder->cfg->edges[edge]) && !finder->loops->checked[edge];
}

static struct place *burst_switch_strides_place_of(struct finder *finder, uint32_t block)
{
	uint32_t near = block < finder->cfg->block_count ? finder->near_of[block] : FAR;

	return near < finder->count && finder->near[near].block == block ? &finder->near[near]
									 : NULL;
}

static uint32_t length_of(const struct finder *finder, const struct place *place)
{
	return finder->cfg->blocks[place->block].count;
}

/* --- bodies --------------------------------------------------------------- */

/* Return: true if the block is new, or nearer than before. */
static bool reach_block(struct finder *finder, uint32_t block, uint32_t from_header)
{
	struct place *place = burst_switch_strides_place_of(finder, block);

	if (block >= finder->cfg->block_count ||
	    !burst_switch_strides_is_plain(finder->cfg, &finder->cfg->blocks[block]))
		return false;
	from_header += finder->cfg->blocks[block].count;
	if (from_header > STRIDE_BODY || (place == NULL && finder->count == NEAR) ||
	    (place != NULL && place->from_header <= from_header))
		return false;
	if (place == NULL) {
		finder->near_of[block] = finder->count;
		place = &finder->near[finder->count++];
		*place = (struct place){.block = block, .to_back_edge = FAR};
	}
	place->from_header = from_header;
	return true;
}

static void find_near(struct finder *finder)
{
	bool changed = reach_block(finder, finder->header, 0);

	while (changed) {
		changed = false;
		for (uint32_t n = 0; n < finder->count; n++) {
			const struct cfg_block *block = &finder->cfg->blocks[finder->near[n].block];

			for (uint32_t e = block->out; e < block->out + block->out_count; e++)
				changed |= stays_in_iteration(finder, e) &&
					   reach_block(finder, finder->cfg->edges[e].to,
						       finder->near[n].from_header);
		}
	}
}

/* Return the number of instructions to a back edge, along an edge. */
static uint32_t insns_to_back_edge(struct finder *finder, uint32_t edge)
{
	const struct place *to = burst_switch_strides_place_of(finder, finder->cfg->edges[edge].to);

	if (burst_switch_strides_leads_back(finder->cfg, finder->loops, finder->header, edge))
		return 0;
	return to != NULL && stays_in_iteration(finder, edge) ? to->to_back_edge : FAR;
}

static void find_insns_to_back_edge(struct finder *finder)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t n = 0; n < finder->count; n++) {
			struct place *place = &finder->near[n];
			const struct cfg_block *block = &finder->cfg->blocks[place->block];

			for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
				uint32_t to_back_edge = insns_to_back_edge(finder, e);

				if (to_back_edge == FAR ||
				    to_back_edge + block->count >= place->to_back_edge)
					continue;
				place->to_back_edge = to_back_edge + block->count;
				changed = true;
			}
		}
	}
}

/* Return the number of instructions of the shortest cycle through a block. */
static uint32_t cycle_length(const struct finder *finder, const struct place *place)
{
	return place->to_back_edge == FAR
		       ? FAR
		       : place->from_header + place->to_back_edge - length_of(finder, place);
}

/* Return the length of the shortest cycle that is longer than @than. */
static uint32_t next_cycle_length(const struct finder *finder, uint32_t than)
{
	uint32_t least = FAR;

	for (uint32_t n = 0; n < finder->count; n++) {
		uint32_t length = cycle_length(finder, &finder->near[n]);

		if (length > than && length < least)
			least = length;
	}
	return least;
}

/* Return the number of instructions on cycles of at most @length instructions: these are whole
 * cycles. */
static uint32_t insns_within(const struct finder *finder, uint32_t length)
{
	uint32_t insns = 0;

	for (uint32_t n = 0; n < finder->count; n++) {
		if (cycle_length(finder, &finder->near[n]) <= length)
			insns += length_of(finder, &finder->near[n]);
	}
	return insns;
}

/* Order by address, starting from the header. */
static int by_header_offset(const void *left, const void *right, void *context)
{
	uint32_t header = *(const uint32_t *)context;
	uint32_t a = ((const struct place *)left)->block - header;
	uint32_t b = ((const struct place *)right)->block - header;

	return (a > b) - (a < b);
}

/* Keep as many of the shortest cycles as possible. Return: number of their instructions. */
static uint32_t burst_switch_strides_choose(struct finder *finder)
{
	uint32_t all = insns_within(finder, STRIDE_BODY);
	uint32_t limit = all <= STRIDE_BODY ? STRIDE_BODY : STRIDE_PART;
	uint32_t last = next_cycle_length(finder, 0), length = last, kept = 0, insns;

	if (last == FAR || insns_within(finder, last) > STRIDE_BODY)
		return 0;
	while (length <= STRIDE_BODY && insns_within(finder, length) <= limit) {
		last = length;
		length = next_cycle_length(finder, length);
	}
	insns = insns_within(finder, last);
	for (uint32_t n = 0; n < finder->count; n++) {
		if (cycle_length(finder, &finder->near[n]) <= last)
			finder->near[kept++] = finder->near[n];
	}
	finder->count = kept;
	qsort_r(finder->near, kept, sizeof(*finder->near), by_header_offset, &finder->header);
	for (uint32_t n = 0; n < kept; n++)
		finder->near_of[finder->near[n].block] = n;
	return insns;
}

/* --- entries of loops ----------------------------------------------------- */

/* Return true if all edges to a kept block come from kept blocks without a check. For the header,
 * this must hold for its checked edges. */
static bool is_entered_from_chosen(struct finder *finder, uint32_t index)
{
	const struct cfg *cfg = finder->cfg;
	const struct cfg_block *block = &cfg->blocks[index];
	bool begins = index == finder->header;

	for (uint32_t i = block->in; i < block->in + block->in_count; i++) {
		uint32_t edge = cfg->in_edges[i];
		bool checked = finder->loops->checked[edge];

		if (begins && !checked)
			continue;
		if (checked != begins || !is_direct_edge(&cfg->edges[edge]) ||
		    burst_switch_strides_place_of(finder, cfg->edges[edge].from) == NULL)
			return false;
	}
	return true;
}

/*
 * If all blocks satisfy the condition, the loop is a natural loop without an inner loop. A path
 * that leaves it, and returns without reaching the end of the last replica, has taken another back
 * edge to another loop's header.
 *
 * There must be a check on that path. Otherwise all its back edges would be of closed loops. Each
 * loop would then contain the header of the previous one, and so dominate it: all headers would be
 * the same.
 */
static bool is_closed(struct finder *finder)
{
	for (uint32_t n = 0; n < finder->count; n++) {
		if (!is_entered_from_chosen(finder, finder->near[n].block))
			return false;
	}
	return true;
}

/* --- all of it ------------------------------------------------------------ */

static int add_stride(struct burst_switch_strides *strides, const struct burst_stride *stride)
{
	if (array_reserve(&strides->all, &strides->capacity, strides->count + 1,
			  sizeof(*strides->all)) < 0 ||
	    array_reserve(&strides->blocks, &strides->block_capacity,
			  strides->block_count + stride->count, sizeof(*strides->blocks)) < 0)
		return -ENOMEM;
	strides->all[strides->count] = *stride;
	strides->all[strides->count++].first = (uint32_t)strides->block_count;
	return 0;
}

static int burst_switch_strides_do_add(struct finder *finder, uint32_t replicas)
{
	struct burst_switch_strides *strides = finder->strides;
	struct burst_stride stride = {
		.edge = finder->edge,
		.count = finder->count,
		.replicas = replicas,
		.closed = is_closed(finder),
	};
	int r = add_stride(strides, &stride);

	for (uint32_t n = 0; r == 0 && n < finder->count; n++)
		strides->blocks[strides->block_count++] = finder->near[n].block;
	return r;
}

static int burst_switch_strides_examine(struct finder *finder, uint32_t header)
{
	const struct cfg_block *block = &finder->cfg->blocks[header];
	uint32_t i = block->in, end = block->in + block->in_count, insns, replicas;

	while (i < end && !burst_switch_strides_leads_back(finder->cfg, finder->loops, header,
							   finder->cfg->in_edges[i]))
		i++;
	if (i == end)
		return 0;
	finder->edge = finder->cfg->in_edges[i];
	finder->header = header;
	finder->count = 0;
	find_near(finder);
	find_insns_to_back_edge(finder);
	insns = burst_switch_strides_choose(finder);
	if (insns == 0)
		return 0;
	replicas = STRIDE_INSNS / insns;
	return burst_switch_strides_do_add(finder,
					   replicas < STRIDE_REPLICAS ? replicas : STRIDE_REPLICAS);
}

int burst_switch_strides_find(struct burst_switch_strides *ret, const struct cfg *cfg,
			      const struct burst_switch_loops *loops)
{
	struct finder finder = {
		.cfg = cfg,
		.loops = loops,
		.strides = ret,
		.near_of = calloc(cfg->block_count + (size_t)1, sizeof(*finder.near_of)),
	};
	int r = -ENOMEM;

	*ret = (struct burst_switch_strides){0};
	if (finder.near_of != NULL) {
		r = 0;
		for (uint32_t b = 0; r == 0 && b < cfg->block_count; b++)
			r = burst_switch_strides_examine(&finder, b);
	}
	free(finder.near_of);
	if (r < 0)
		burst_switch_strides_deinit(ret);
	return r;
}

int burst_switch_strides_add(struct burst_switch_strides *strides, uint32_t edge, uint32_t block,
			     uint32_t replicas)
{
	struct burst_stride stride = {.edge = edge, .count = 1, .replicas = replicas};
	int r = add_stride(strides, &stride);

	if (r == 0)
		strides->blocks[strides->block_count++] = block;
	return r;
}

void burst_switch_strides_deinit(struct burst_switch_strides *strides)
{
	free(strides->all);
	free(strides->blocks);
	*strides = (struct burst_switch_strides){0};
}
