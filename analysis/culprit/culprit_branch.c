// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch mispredictions: only where control may arrive from a conditional or indirect branch, or
 * returns from a call.
 */
#include "analysis/culprit/culprit_path.h"

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
static double mispredictions_most(const struct culprit_input *input, uint32_t edge)
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
		mispredicts->likely += mispredictions_most(input, index);
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

/*
 * struct recovery - search for mispredictions after which the stalled instruction was among the
 * first ones that were fetched
 * @cycles:   expected remainder of them; @possible: if each possible one happened
 * @from:     the branch with the largest part
 * @recurses: a path has a call of the procedure itself. Its returns are mispredicted if it is
 * deeper than the processor's stack of return addresses
 * @pointers: a path has a call through a pointer; the target may vary
 */
struct recovery {
	const struct culprit_stall *stall;
	double cycles;
	double possible;
	double most;
	uint32_t from;
	bool pointers;
	bool recurses;
};

static void recovery_add(struct recovery *recovery, const struct culprit_path *path, uint32_t insn,
			 double probability)
{
	double all = recovery->stall->input->model->branch_mispredict_cycles;
	double left = path->share * fmax(all - path->cycles, 0);

	recovery->possible += left;
	recovery->cycles += probability * left;
	if (probability * left > recovery->most) {
		recovery->most = probability * left;
		recovery->from = insn;
	}
}

/* Return the frequency of an edge's rarer alternatives, by their values and not their bounds. */
static double alternatives(const struct culprit_input *input, uint32_t edge)
{
	const struct cfg *cfg = input->cfg;
	const struct cfg_block *from = &cfg->blocks[cfg->edges[edge].from];
	double others = 0;

	for (uint32_t e = from->out; e < from->out + from->out_count; e++)
		if (e != edge)
			others += input->frequency->edges[e].value;
	return fmin(arrivals(input, edge), others);
}

/* Return the probability that a branch to a block was mispredicted. */
static double mispredict_probability(const struct culprit_input *input, uint32_t insn,
				     uint32_t block)
{
	const struct cfg *cfg = input->cfg;
	const struct cfg_block *from = &cfg->blocks[cfg->block_of[insn]];

	for (uint32_t e = from->out; e < from->out + from->out_count; e++) {
		double count = arrivals(input, e);

		if (cfg->edges[e].to == block)
			return count > 0 ? fmin(alternatives(input, e) / count, 1) : 0;
	}
	return 0;
}

/*
 * Return the time of mispredictions if no branch followed a pattern, in samples. A pattern is not
 * visible in the directions, but mispredictions cost at least about the time of a recovery.
 */
double culprit_branch_cost(const struct culprit_input *input)
{
	double count = 0;

	for (uint32_t e = 0; e < input->cfg->edge_count; e++) {
		const struct cfg_edge *edge = &input->cfg->edges[e];

		if (edge->from < input->cfg->block_count && edge->to < input->cfg->block_count &&
		    input->cfg->insns[edge->insn].flow == INSN_FLOW_BRANCH)
			count += alternatives(input, e) / 2;
	}
	return count * input->model->branch_mispredict_cycles;
}

/* Return the share of the executions of a call through a pointer that call another procedure. */
static double call_varied(const struct culprit_input *input, uint32_t insn)
{
	if (input->cfg->insns[insn].flow != INSN_FLOW_CALL_INDIRECT ||
	    input->profile->branch_varied == NULL)
		return 0;
	return input->profile->branch_varied[insn];
}

/* @path.count: the instruction after this one on the path */
static bool culprit_branch_visit(void *ctx, struct culprit_path *path, uint32_t index)
{
	struct recovery *recovery = ctx;
	const struct culprit_input *input = recovery->stall->input;
	const struct insn *insn = &input->cfg->insns[index];
	uint32_t next = (uint32_t)path->count;

	path->count = index;
	/* Processors predict the targets of returns. The time of the callee is not known. */
	if (culprit_insn_calls(insn)) {
		recovery_add(recovery, path, index, call_varied(input, index));
		recovery->pointers |= insn->flow == INSN_FLOW_CALL_INDIRECT;
		recovery->recurses |= insn->flow == INSN_FLOW_CALL &&
				      insn->target == input->cfg->insns[0].address;
		return false;
	}
	if (insn->flow == INSN_FLOW_BRANCH || insn->flow == INSN_FLOW_JUMP_INDIRECT)
		recovery_add(recovery, path, index,
			     mispredict_probability(input, index, input->cfg->block_of[next]));
	return true;
}

static void culprit_branch_end(void *ctx, const struct culprit_path *path,
			       enum culprit_path_end how)
{
	struct recovery *recovery = ctx;
	const struct culprit_input *input = recovery->stall->input;
	double probability = 0;

	if (how != CULPRIT_PATH_ENTRY && how != CULPRIT_PATH_UNKNOWN)
		return;
	/* Called, or reached by an unknown jump. Without known calls, any number may be direct. */
	if (how == CULPRIT_PATH_ENTRY && input->profile->calls_in > 0)
		probability = called_by_pointer(input);
	if (how == CULPRIT_PATH_ENTRY)
		probability = fmax(probability, input->profile->entry_varied);
	recovery->pointers = true;
	recovery_add(recovery, path, UINT32_MAX, probability);
}

/*
 * Out of order, a misprediction empties the window. The latency of the next instructions is then
 * not hidden, so that it shows at several of them.
 */
static bool bound_out_of_order(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	struct recovery recovery = {.stall = stall, .from = UINT32_MAX};
	struct culprit_walk walk = {stall->input->model->branch_mispredict_cycles,
				    culprit_branch_visit, culprit_branch_end, &recovery};
	struct culprit_path start = {.count = stall->insn};
	double most;

	culprit_path_walk(stall, &walk, &start);
	ret->high = fmin(recovery.possible, events_bound(stall));
	most = fmin(stall->cycles, ret->high);
	ret->from = recovery.from;
	if (!stall->predicted && recovery.cycles >= LIKELY_SHARE * most)
		ret->rank = 0;
	else if (!stall->predicted && recovery.cycles >= CULPRIT_MINOR_SHARE * most)
		ret->rank = 1;
	else
		ret->rank = recovery.pointers || recovery.recurses ? 2 : CULPRIT_RANK_IMPROBABLE;
	return ret->high > 0;
}

bool culprit_branch_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	unsigned int cycles = stall->input->model->branch_mispredict_cycles;
	struct mispredicts mispredicts;
	double likely, most;

	if (!stall->input->model->in_order)
		return bound_out_of_order(stall, ret);
	mispredicts = find_mispredicts(stall);
	likely = mispredicts.likely * cycles;
	ret->high = fmin(mispredicts.possible * cycles, events_bound(stall));
	most = fmin(stall->cycles, ret->high);
	/* More than its own branches can account for: unlikely, but branches share counters. */
	ret->rank = likely < LIKELY_SHARE * most;
	return mispredicts.possible > 0;
}
