// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/flow_stacks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

/* A stack counts as this many directions, and all of them as at most STACKS_SEEN_MAX. */
#define STACK_SEEN 0.5
#define STACKS_SEEN_MAX 2.0
/* Limits of the search: edges of a branch, and edges multiplied by blocks. */
#define EDGES_MAX 8
#define STEPS_MAX 4000000U

/*
 * struct reach - search for the blocks that the directions of a branch lead to
 * @stacks: of each block: stacks in its calls
 * @of:     of each block: bit i: direction i leads to it
 * @queue:  memory for all blocks
 */
struct reach {
	const struct cfg *cfg;
	double *stacks;
	uint8_t *of;
	uint32_t *queue;
};

/* Mark the blocks that an edge leads to without @branch. */
static void reach_mark(struct reach *reach, uint32_t branch, uint32_t to, uint8_t bit)
{
	const struct cfg *cfg = reach->cfg;
	uint32_t count = 0;

	if (to < cfg->block_count && to != branch)
		reach->queue[count++] = to;
	if (count > 0)
		reach->of[to] |= bit;
	for (uint32_t i = 0; i < count; i++) {
		const struct cfg_block *block = &cfg->blocks[reach->queue[i]];

		for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
			uint32_t next = cfg->edges[e].to;

			if (next >= cfg->block_count || next == branch ||
			    (reach->of[next] & bit) != 0)
				continue;
			reach->of[next] |= bit;
			reach->queue[count++] = next;
		}
	}
}

/* Return: the stacks in blocks to which only the direction @bit leads. */
static double own_stacks(const struct reach *reach, uint8_t bit)
{
	double sum = 0;

	for (uint32_t b = 0; b < reach->cfg->block_count; b++) {
		if (reach->of[b] == bit)
			sum += reach->stacks[b];
	}
	return sum;
}

static void branch_take(double *seen, struct reach *reach, uint32_t b)
{
	const struct cfg_block *block = &reach->cfg->blocks[b];
	double own[EDGES_MAX], sum = 0, directions;

	memset(reach->of, 0, reach->cfg->block_count);
	for (uint32_t i = 0; i < block->out_count; i++)
		reach_mark(reach, b, reach->cfg->edges[block->out + i].to, (uint8_t)(1U << i));
	for (uint32_t i = 0; i < block->out_count; i++) {
		own[i] = own_stacks(reach, (uint8_t)(1U << i));
		sum += own[i];
	}
	directions = fmin(sum * STACK_SEEN, STACKS_SEEN_MAX);
	for (uint32_t i = 0; sum > 0 && i < block->out_count; i++)
		seen[block->out + i] += directions * own[i] / sum;
}

static bool has_directions(const struct frequency_input *input, const struct cfg_block *block)
{
	double sum = 0;

	for (uint32_t e = block->out;
	     input->profile->edge_samples != NULL && e < block->out + block->out_count; e++)
		sum += input->profile->edge_samples[e];
	return sum > 0;
}

int flow_stacks_take(double *seen, const struct frequency_input *input)
{
	const struct cfg *cfg = input->cfg;
	_cleanup_free_ double *stacks = calloc((size_t)cfg->block_count + 1, sizeof(*stacks));
	_cleanup_free_ uint8_t *of = calloc((size_t)cfg->block_count + 1, sizeof(*of));
	_cleanup_free_ uint32_t *queue = calloc((size_t)cfg->block_count + 1, sizeof(*queue));
	struct reach reach = {cfg, stacks, of, queue};

	if (input->profile->call_stacks == NULL ||
	    (uint64_t)cfg->edge_count * cfg->block_count > STEPS_MAX)
		return 0;
	if (stacks == NULL || of == NULL || queue == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->insn_count; i++)
		stacks[cfg->block_of[i]] += input->profile->call_stacks[i];
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];

		if (block->out_count > 1 && block->out_count <= EDGES_MAX &&
		    !has_directions(input, block))
			branch_take(seen, &reach, b);
	}
	return 0;
}
