// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch mispredicts: only where control may arrive by a conditional or indirect
 * branch, or comes back from a call.
 */
#include "analysis/culprit_rule.h"

#include <math.h>

/* Mispredicts are charged where control arrives, events at the branch or a little later. */
#define EVENT_SKID 4

/* How often a block is entered along an edge. */
static double arrivals(const struct culprit_input *input, uint32_t edge)
{
	return culprit_edge_share(input, edge) *
	       input->frequency->blocks[input->cfg->edges[edge].to].value;
}

/*
 * Mispredicts on the way along a conditional branch's edge, at most, as frequencies: a
 * counter that learns from each outcome has to be led astray by the other outcome first,
 * so the rarer direction bounds them both ways. Where the rarer direction's estimate is
 * not sure, its upper end counts.
 */
static double conditional_mispredicts(const struct culprit_input *input, uint32_t edge)
{
	const struct cfg *cfg = input->cfg;
	const struct cfg_block *from = &cfg->blocks[cfg->edges[edge].from];
	double others = 0;

	for (uint32_t e = from->out; e < from->out + from->out_count; e++)
		if (e != edge)
			others += culprit_edge_most(input, e);
	return fmin(arrivals(input, edge), others);
}

static double edge_mispredicts(const struct culprit_input *input, uint32_t index)
{
	const struct cfg *cfg = input->cfg;
	const struct cfg_edge *edge = &cfg->edges[index];

	if (edge->kind == CFG_EDGE_ENTRY) /* called through a pointer, perhaps */
		return arrivals(input, index);
	if (edge->from >= cfg->block_count)
		return arrivals(input, index);
	switch (cfg->insns[edge->insn].flow) {
	case INSN_FLOW_BRANCH:
		return conditional_mispredicts(input, index);
	case INSN_FLOW_JUMP_INDIRECT:
		return conditional_mispredicts(input, index);
	default:
		return 0;
	}
}

/* @doubt: out: 1 for returns from calls, which processors predict well */
static double arrivals_mispredicted(const struct culprit_stall *stall, unsigned int *doubt)
{
	const struct culprit_input *input = stall->input;
	const struct cfg *cfg = input->cfg;
	const struct cfg_block *block = &cfg->blocks[stall->block];
	double mispredicts = 0;

	if (stall->insn > block->first) {
		const struct insn *previous = &cfg->insns[stall->insn - 1];

		*doubt = 1;
		return previous->flow == INSN_FLOW_CALL ||
		       previous->flow == INSN_FLOW_CALL_INDIRECT;
	}
	for (uint32_t i = 0; i < block->in_count; i++) {
		uint32_t edge = cfg->in_edges[block->in + i];

		mispredicts += edge_mispredicts(input, edge);
	}
	return fmin(mispredicts / stall->frequency, 1);
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
	double share = arrivals_mispredicted(stall, &ret->doubt);

	ret->high =
		fmin(share * stall->input->model->branch_mispredict_cycles, events_bound(stall));
	return share > 0;
}
