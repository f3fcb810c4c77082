// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch mispredicts: only where control may arrive by a conditional or indirect
 * branch, or comes back from a call.
 */
#include "analysis/culprit/culprit_rule.h"

#include <math.h>

/* Mispredicts are charged where control arrives, events at the branch or a little later. */
#define EVENT_SKID 4

/* What is likely is enough if it accounts for so much of a stall. */
#define LIKELY_SHARE 0.5

/* How often a block is entered along an edge. */
static double arrivals(const struct culprit_input *input, uint32_t edge)
{
	return culprit_edge_share(input, edge) *
	       input->frequency->blocks[input->cfg->edges[edge].to].value;
}

/*
 * Mispredicts on the way along a branch's edge, at most, as frequencies: a counter that
 * learns from each outcome has to be led astray by another outcome first, so the rarer
 * directions bound them all. Where the estimate of those is not sure, its upper end counts.
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
 * struct mispredicts - of an instruction's executions, the share before which they may
 * happen, and before which they do if counters are not shared among branches
 */
struct mispredicts {
	double possible;
	double likely;
};

/*
 * The share of the calls of a procedure that may come through a pointer: what the direct ones
 * do not account for. Where those go is never mispredicted.
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

static void add_edge(struct mispredicts *mispredicts, const struct culprit_input *input,
		     uint32_t index)
{
	const struct cfg *cfg = input->cfg;
	const struct cfg_edge *edge = &cfg->edges[index];
	double count = arrivals(input, index);

	if (edge->from >= cfg->block_count) {
		/* Called, perhaps through a pointer; or by a jump that is not known. */
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

		/* Processors know where calls return to. */
		mispredicts.possible = previous->flow == INSN_FLOW_CALL ||
				       previous->flow == INSN_FLOW_CALL_INDIRECT;
		return mispredicts;
	}
	for (uint32_t i = 0; i < block->in_count; i++)
		add_edge(&mispredicts, stall->input, cfg->in_edges[block->in + i]);
	mispredicts.possible = fmin(mispredicts.possible / stall->frequency, 1);
	mispredicts.likely = fmin(mispredicts.likely / stall->frequency, 1);
	return mispredicts;
}

/* The instructions whose samples of mispredict events may belong to this arrival. */
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
			return INFINITY; /* the branch is not known */
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
	/* More than its own branches can account for: doubtful, but branches share counters. */
	ret->doubt = likely < LIKELY_SHARE * most;
	/* Out of order there always are others who may have done it. */
	if (!stall->input->model->in_order && likely < CULPRIT_MINOR_SHARE * most)
		ret->doubt = 2;
	return mispredicts.possible > 0;
}
