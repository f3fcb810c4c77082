// SPDX-License-Identifier: GPL-2.0-only
/*
 * The integer multiplier and the FP divider: busy, or their result delayed, for longer than the
 * schedule assumes.
 */
#include "analysis/culprit/culprit_path.h"

#include <math.h>

/*
 * struct search - search for an earlier use of a unit
 * @uses:  returns true for instructions that use the unit
 * @waits: upper bound of the cycles per execution
 */
struct search {
	const struct cfg *cfg;
	const struct insn *insn;
	bool (*uses)(const struct insn *insn);
	double busy_cycles;
	double waits;
	uint32_t from;
};

static bool uses_multiplier(const struct insn *insn)
{
	return insn->class == INSN_MULTIPLY || insn->class == INSN_DIVIDE;
}

static bool uses_fp_divider(const struct insn *insn)
{
	return insn->class == INSN_FP_DIVIDE || insn->class == INSN_FP_SQRT;
}

static bool culprit_unit_visit(void *ctx, struct culprit_path *path, uint32_t index)
{
	struct search *search = ctx;
	const struct insn *insn = &search->cfg->insns[index];

	if (culprit_insn_calls(insn))
		return false;
	if (search->uses(insn) &&
	    (search->uses(search->insn) || insn_regs_meet(&insn->writes, &path->regs))) {
		search->waits += path->share * (search->busy_cycles - path->cycles);
		search->from = index;
		return false;
	}
	insn_regs_remove(&path->regs, &insn->writes);
	return true;
}

static void culprit_unit_end(void *ctx, const struct culprit_path *path, enum culprit_path_end how)
{
	(void)ctx, (void)path, (void)how;
}

/* Multiplications take as long as scheduled; divisions may take longer. */
static int rank_of(const struct insn *insn)
{
	return insn->class == INSN_MULTIPLY ? 2 : 0;
}

static bool unit_bound(const struct culprit_stall *stall, struct culprit_bound *ret,
		       bool (*uses)(const struct insn *insn), double busy_cycles)
{
	const struct cfg *cfg = stall->input->cfg;
	struct search search = {
		.cfg = cfg,
		.insn = &cfg->insns[stall->insn],
		.uses = uses,
		.busy_cycles = busy_cycles,
		.from = UINT32_MAX,
	};
	struct culprit_walk walk = {busy_cycles, culprit_unit_visit, culprit_unit_end, &search};
	struct culprit_path start = {.regs = search.insn->reads};

	if (busy_cycles == 0)
		return false;
	if (!stall->input->model->in_order) {
		/*
		 * Users of a result wait outside of the queue; the operation itself cannot retire.
		 * Multipliers are pipelined: their time is latency (culprit_latency.c).
		 */
		ret->high = busy_cycles;
		return uses(search.insn) && search.insn->class != INSN_MULTIPLY;
	}
	culprit_path_walk(stall, &walk, &start);
	ret->from = search.from;
	ret->rank = search.from != UINT32_MAX ? rank_of(&cfg->insns[search.from]) : 0;
	/* The schedule already includes a part of it. */
	ret->high = fmax(search.waits - stall->insns[stall->insn].static_cycles, 0);
	return ret->high > 0;
}

bool culprit_imul_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	return unit_bound(stall, ret, uses_multiplier, stall->input->model->imul_cycles);
}

bool culprit_fdiv_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	return unit_bound(stall, ret, uses_fp_divider, stall->input->model->fdiv_cycles);
}
