// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/flow_prior.h"

#include <errno.h>

#include "analysis/graph/loop_nest.h"
#include "analysis/graph/register_state.h"

/* Prior that is shared among the edges of a branch. */
#define PRIOR_SEEN 0.1
/* Prior of entries known from samples only, and of edges out of CFG_UNKNOWN. */
#define PRIOR_UNLIKELY 0.05
/* Prior of edges to no-return blocks: mostly failed checks. */
#define PRIOR_DOOMED 0.001
/*
 * Part of the prior for the direction into a loop. Wu and Larus have 0.75 for the loop header
 * heuristic and 0.84 for the opcode heuristic, and combine them as
 * 0.75 * 0.84 / (0.75 * 0.84 + 0.25 * 0.16).
 *
 * In gzip and sorts, branches around loops that compare with 0 enter them 79% of the time on
 * average, mostly always. The others enter them 57% of the time, and so have no such prior.
 */
#define LOOP_PART 0.94
/* Blocks between a branch and the loop that it leads to. */
#define BLOCKS_BEFORE_LOOP 4

static double edge_prior(const struct flow_chain *chain, const struct cfg *cfg,
			 const bool *noreturn, uint32_t e)
{
	const struct cfg_edge *edge = &cfg->edges[e];
	uint32_t node = chain->from[e];

	if (node < cfg->block_count && !noreturn[node] && edge->to < cfg->block_count &&
	    noreturn[edge->to])
		return PRIOR_DOOMED;
	if (node == chain->entry && chain->count[node] > 1 && edge->to < cfg->block_count)
		return (cfg->blocks[edge->to].flags & CFG_BLOCK_ENTRY) != 0 ? 1 : PRIOR_UNLIKELY;
	if (edge->kind == CFG_EDGE_UNKNOWN)
		return PRIOR_UNLIKELY;
	return PRIOR_SEEN / chain->count[node];
}

/* Return: true if only blocks without branches are between a block and a loop that it is not in. */
static bool enters_loop(const struct cfg *cfg, const struct loop_nest *nest, uint32_t from,
			uint32_t to)
{
	for (int i = 0; i < BLOCKS_BEFORE_LOOP && to < cfg->block_count; i++) {
		const struct cfg_block *block = &cfg->blocks[to];
		uint32_t loop = nest->of_block[to];

		if (loop != LOOP_NEST_NONE && !loop_nest_contains(nest, cfg, loop, from))
			return true;
		if (block->out_count != 1)
			return false;
		to = cfg->edges[block->out].to;
	}
	return false;
}

static bool compares_with_0(const struct cfg *cfg, uint32_t b)
{
	struct insn_test test;
	uint32_t at;

	return register_state_find_test(&test, &at, cfg, &cfg->blocks[b]) &&
	       test.right == INSN_REG_NONE && test.constant == 0;
}

/* One direction of the branch enters a loop, and the other one returns or goes around it. */
static void guard_take(double *ret, const struct cfg *cfg, const struct loop_nest *nest, uint32_t b)
{
	uint32_t first = cfg->blocks[b].out;
	bool enters[2];

	if (cfg->blocks[b].out_count != 2 || ret[first] != ret[first + 1] ||
	    !compares_with_0(cfg, b))
		return;
	for (uint32_t i = 0; i < 2; i++)
		enters[i] = enters_loop(cfg, nest, b, cfg->edges[first + i].to);
	if (enters[0] == enters[1])
		return;
	ret[first + !enters[0]] = PRIOR_SEEN * LOOP_PART;
	ret[first + enters[0]] = PRIOR_SEEN * (1 - LOOP_PART);
}

int flow_prior_find(double *ret, const struct flow_chain *chain, const struct cfg *cfg,
		    const bool *noreturn)
{
	struct loop_nest nest;

	if (loop_nest_create(&nest, cfg) < 0)
		return -ENOMEM;
	for (uint32_t e = 0; e < chain->edge_count; e++)
		ret[e] = edge_prior(chain, cfg, noreturn, e);
	for (uint32_t b = 0; b < cfg->block_count; b++)
		guard_take(ret, cfg, &nest, b);
	loop_nest_deinit(&nest);
	return 0;
}
