// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions that wait for other work to complete: barriers, atomics, system code, retirement.
 */
#include "analysis/culprit/culprit_path.h"

#include <math.h>

struct search {
	const struct cfg *cfg;
	double share;
	uint32_t from;
	bool (*waits)(const struct insn *insn);
};

static bool synchronizes(const struct insn *insn)
{
	return insn->class == INSN_BARRIER || insn->class == INSN_ATOMIC;
}

static bool enters_system(const struct insn *insn)
{
	return insn->class == INSN_SYSTEM || insn->class == INSN_STRING ||
	       (insn->flags & INSN_SERIALIZES) != 0;
}

static bool culprit_sync_visit(void *ctx, struct culprit_path *path, uint32_t index)
{
	struct search *search = ctx;

	if (search->waits(&search->cfg->insns[index])) {
		search->share += path->share;
		search->from = index;
	}
	return false; /* only the instruction directly before the stalled one */
}

static void culprit_sync_end(void *ctx, const struct culprit_path *path, enum culprit_path_end how)
{
	(void)ctx, (void)path, (void)how;
}

static bool neighbour_bound(const struct culprit_stall *stall, struct culprit_bound *ret,
			    bool (*waits)(const struct insn *insn))
{
	const struct cfg *cfg = stall->input->cfg;
	struct search search = {cfg, 0, UINT32_MAX, waits};
	struct culprit_walk walk = {INFINITY, culprit_sync_visit, culprit_sync_end, &search};
	struct culprit_path start = {.count = 0};

	if (waits(&cfg->insns[stall->insn]))
		return true;
	culprit_path_walk(stall, &walk, &start);
	ret->from = search.from;
	return search.share >= CULPRIT_NEGLIGIBLE;
}

bool culprit_sync_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	return neighbour_bound(stall, ret, synchronizes);
}

bool culprit_other_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	if (neighbour_bound(stall, ret, enters_system))
		return true;
	if (stall->input->model->in_order)
		return false;
	/* Retirement waits for all older instructions: if none of them can be identified. */
	ret->from = UINT32_MAX;
	ret->rank = CULPRIT_RANK_UNKNOWN;
	return true;
}
