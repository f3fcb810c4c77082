// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch mispredictions: only where control may arrive from a conditional or indirect branch, or
 * returns from a call.
 */
#include "analysis/culprit/culprit_rule.h"

#include <math.h>

/*
 * Mispredictions are charged to the target, their events to the branch or a few instructions later.
 */
#define EVENT_SKID 4

/* The likely mispredictions suffice if they account for this part of a stall. */
#define LIKELY_SHARE 0.5

/* Return the frequency of arrivals along an edge. */
static double arrivals(const struct culprit_input *input, uint32_t edge)
{
	return culprit_edge_share(input, edge) *
	       input->frequency->blocks[input->cfg->edges[edge].to].value;
}

/*
 * Return an upper bound of mispredictions along a branch's edge, as a frequency. A counter that
 * learns from each outcome mispredicts only after another outcome, so the rarer directions bound
 * all mispredictions. If their estimate is uncertain, the upper end of its interval is used.
 */
static double led_astray(const struct culprit_input *input, uint32_t edge)
{
	const struct cfg *cfg = input->cfg;
	const struct cfg_block *from = &cfg->blocks[cfg->edges[edge].from];
	double others = 0;

	for (uint32_t e = from->out; e < from->out + from->out_count; e++)
		if (e != edge)
			others += culprit_edge_most(input, e);
	return fmin(arrivals(input, edge), others);
}

/*
 * struct mispredicts - share of an instruction's executions that may be preceded by a
 * misprediction, and the share that are likely to be if branches do not share counters
 */
struct mispredicts {
	double possible;
	double likely;
};

/*
 * Return the share of a procedure's calls that may come through a pointer, that is, all except the
 * known direct calls. Direct calls are never mispredicted.
 */
static double called_by_pointer(const struct culprit_input *input)
{
	const struct cfg *cfg = input->cfg;
	double entered = 0;

	if (input->profile->calls_in <= 0)
		return 1;
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		if (cfg->edges[e].kind == CFG_EDGE_ENTRY)
			entered += input->frequency->edges[e].value;
	return entered > 0 ? fmax(0, 1 - input->profile->calls_in / entered) : 1;
}

static void culprit_branch_add_edge(struct mispredicts *mispredicts,
				    const struct culprit_input *input, uint32_t index)
{
	const struct cfg *cfg = input->cfg;
	const struct cfg_edge *edge = &cfg->edges[index];
	double count = arrivals(input, index);

	if (edge->from >= cfg->block_count) {
		/* Called, possibly through a pointer, or reached by an unknown jump. */
		if (edge->kind == CFG_EDGE_ENTRY)
			count *= called_by_pointer(input);
		mispredicts->possible += count;
		mispredicts->likely += count;
	} else if (cfg->insns[edge->insn].flow == INSN_FLOW_BRANCH ||
		   cfg->insns[edge->insn].flow == INSN_FLOW_JUMP_INDIRECT) {
		mispredicts->possible += count;
		mispredicts->likely += led_astray(input, index);
	}
}

static struct mispredicts find_mispredicts(const struct culprit_stall *stall)
{
	const struct cfg *cfg = stall->input->cfg;
	const struct cfg_block *block = &cfg->blocks[stall->block];
	struct mispredicts mispredicts = {0, 0};

	if (stall->insn > block->first) {
		const struct insn *previous = &cfg->insns[stall->insn - 1];

		/* Processors predict the targets of returns. */
		mispredicts.possible = previous->flow == INSN_FLOW_CALL ||
				       previous->flow == INSN_FLOW_CALL_INDIRECT;
		return mispredicts;
	}
	for (uint32_t i = 0; i < block->in_count; i++)
		culprit_branch_add_edge(&mispredicts, stall->input, cfg->in_edges[block->in + i]);
	mispredicts.possible = fmin(mispredicts.possible / stall->frequency, 1);
	mispredicts.likely = fmin(mispredicts.likely / stall->frequency, 1);
	return mispredicts;
}

/* Bound by the samples of misprediction events at instructions that may belong to this arrival. */
static double events_bound(const struct culprit_stall *stall)
{
	const struct cfg *cfg = stall->input->cfg;
	const struct cfg_block *block = &cfg->blocks[stall->block];
	unsigned int cycles = stall->input->model->branch_mispredict_cycles;
	uint32_t last = block->first + block->count - 1;
	double bound;

	if (last > stall->insn + EVENT_SKID)
		last = stall->insn + EVENT_SKID;
	bound = culprit_event_bound(stall, PROFILE_ROLE_BRANCH_MISS, stall->insn, last, cycles);
	for (uint32_t i = 0; i < block->in_count && stall->insn == block->first; i++) {
		const struct cfg_edge *edge = &cfg->edges[cfg->in_edges[block->in + i]];

		if (edge->from >= cfg->block_count)
			return INFINITY; /* the branch is unknown */
		bound += culprit_event_bound(stall, PROFILE_ROLE_BRANCH_MISS, edge->insn,
					     edge->insn, cycles);
	}
	return bound;
}

bool culprit_branch_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	unsigned int cycles = stall->input->model->branch_mispredict_cycles;
	struct mispredicts mispredicts = find_mispredicts(stall);
	double likely = mispredicts.likely * cycles, most;

	ret->high = fmin(mispredicts.possible * cycles, events_bound(stall));
	most = fmin(stall->cycles, ret->high);
	/* More than its own branches can account for: unlikely, but branches share counters. */
	ret->doubt = likely < LIKELY_SHARE * most;
	/* Out of order, other causes are always possible. */
	if (!stall->input->model->in_order && likely < CULPRIT_MINOR_SHARE * most)
		ret->doubt = 2;
	return mispredicts.possible > 0;
}
