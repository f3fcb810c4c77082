// SPDX-License-Identifier: GPL-2.0-only
/*
 * Out of order: an instruction waits for operands that a chain of other instructions computes with
 * their latencies. The schedule knows such chains only in loops of one block.
 */
#include "analysis/culprit/culprit_path.h"
#include "analysis/machine/throughput.h"

#include <math.h>

/* Chains further back have been computed while the instructions after them waited. */
#define INSNS_BACK 64

/*
 * struct search - for the chain
 * @cycles: of the chain; an upper bound, since its parts may be computed at the same time
 * @slowest, @from: latency of the slowest instruction, and its index
 */
struct search {
	const struct cfg *cfg;
	const struct machine_bound *bound;
	uint32_t insn;
	double cycles;
	double slowest;
	uint32_t from;
};

static void chain_add(struct search *search, uint32_t index, double share)
{
	double latency = share * throughput_latency(search->bound, &search->cfg->insns[index]);

	search->cycles += latency;
	if (latency > search->slowest) {
		search->slowest = latency;
		search->from = index;
	}
}

/* @path.regs: the operands of the chain so far */
static bool culprit_latency_visit(void *ctx, struct culprit_path *path, uint32_t index)
{
	struct search *search = ctx;
	const struct insn *insn = &search->cfg->insns[index];

	/* Back at the instruction itself, after one iteration. */
	if (index == search->insn || ++path->count > INSNS_BACK || culprit_insn_calls(insn))
		return false;
	if (!insn_regs_meet(&path->regs, &insn->writes))
		return true;
	chain_add(search, index, path->share);
	insn_regs_remove(&path->regs, &insn->writes);
	if ((insn->flags & INSN_ZEROES) == 0) {
		path->regs.words[0] |= insn->reads.words[0];
		path->regs.words[1] |= insn->reads.words[1];
	}
	return true;
}

static void culprit_latency_end(void *ctx, const struct culprit_path *path,
				enum culprit_path_end how)
{
	(void)ctx, (void)path, (void)how;
}

bool culprit_latency_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	const struct culprit_input *input = stall->input;
	struct search search = {.cfg = input->cfg,
				.bound = input->model->bound,
				.insn = stall->insn,
				.from = stall->insn};
	struct culprit_walk walk = {INFINITY, culprit_latency_visit, culprit_latency_end, &search};
	struct culprit_path start = {.regs = input->cfg->insns[stall->insn].reads};

	if (input->model->in_order)
		return false;
	chain_add(&search, stall->insn, 1);
	culprit_path_walk(stall, &walk, &start);
	ret->high = search.cycles;
	ret->from = search.from;
	ret->rank = 2;
	return true;
}
