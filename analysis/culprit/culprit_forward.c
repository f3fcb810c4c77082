// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/culprit/culprit_forward.h"

#include "analysis/culprit/culprit_path.h"

#include <math.h>

/* Cycles until the stores have left the store buffer, so that the cache has all bytes. */
#define FAILURE_CYCLES 30
/* Earlier stores have usually left the store buffer. */
#define INSNS_BACK 32

/* struct search - @share: share of the paths that contain a store */
struct search {
	const struct cfg *cfg;
	const struct insn *load;
	struct culprit_forward found;
	double share;
};

/* Return the distance from one access to the next, or a huge number if the second begins first. */
static uint64_t culprit_forward_distance(const struct insn_memory *from,
					 const struct insn_memory *to)
{
	return (uint64_t)to->displacement - (uint64_t)from->displacement;
}

static bool overlaps(const struct insn_memory *a, const struct insn_memory *b)
{
	return a->base == b->base && a->index == b->index && a->scale == b->scale &&
	       a->pc_relative == b->pc_relative && a->segment == b->segment &&
	       (culprit_forward_distance(a, b) < a->bytes ||
		culprit_forward_distance(b, a) < b->bytes);
}

static bool covers(const struct insn_memory *store, const struct insn_memory *load)
{
	return culprit_forward_distance(store, load) < store->bytes &&
	       culprit_forward_distance(store, load) + load->bytes <= store->bytes;
}

static bool culprit_forward_visit(void *ctx, struct culprit_path *path, uint32_t index)
{
	struct search *search = ctx;
	const struct insn *insn = &search->cfg->insns[index];

	if (++path->count > INSNS_BACK || culprit_insn_calls(insn) ||
	    insn_regs_meet(&insn->writes, &path->regs))
		return false;
	if ((insn->flags & INSN_WRITES_MEMORY) == 0 ||
	    !overlaps(&insn->memory, &search->load->memory))
		return true;
	if (path->share > search->share)
		search->found = (struct culprit_forward){
			index, covers(&insn->memory, &search->load->memory)};
	search->share += path->share;
	return false;
}

static void culprit_forward_end(void *ctx, const struct culprit_path *path,
				enum culprit_path_end how)
{
	(void)ctx, (void)path, (void)how;
}

bool culprit_forward_find(const struct culprit_stall *stall, struct culprit_forward *ret)
{
	const struct cfg *cfg = stall->input->cfg;
	struct search search = {.cfg = cfg, .load = &cfg->insns[stall->insn]};
	struct culprit_walk walk = {INFINITY, culprit_forward_visit, culprit_forward_end, &search};
	struct culprit_path start = {.count = 0};

	if ((search.load->flags & INSN_READS_MEMORY) == 0)
		return false;
	insn_regs_add(&start.regs, search.load->memory.base);
	insn_regs_add(&start.regs, search.load->memory.index);
	culprit_path_walk(stall, &walk, &start);
	*ret = search.found;
	return search.share > 0.5;
}

/* Data of several stores, or of a narrow one, cannot be forwarded to a wider load. */
bool culprit_store_forward_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	struct culprit_forward forward;

	if (stall->input->model->in_order || !culprit_forward_find(stall, &forward) ||
	    forward.whole)
		return false;
	ret->from = forward.store;
	ret->high = FAILURE_CYCLES;
	return true;
}
