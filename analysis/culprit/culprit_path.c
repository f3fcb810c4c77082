// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/culprit/culprit_path.h"

#include <math.h>

#define BLOCKS_MAX 48  /* entered in one walk */
#define PENDING_MAX 48 /* paths not followed yet */
#define INSNS_MAX 1024 /* visited in one walk */

struct pending {
	uint32_t block;
	struct culprit_path path;
};

struct walker {
	const struct culprit_stall *stall;
	const struct culprit_walk *walk;
	uint32_t entered[BLOCKS_MAX];
	uint32_t entered_count;
	struct pending pending[PENDING_MAX];
	uint32_t pending_count;
	uint32_t insns;
};

/* Average time from an instruction's issue to that of the next one. */
static double insn_cycles(const struct walker *walker, uint32_t insn)
{
	double cpi = walker->stall->insns[insn].cpi;

	return isnan(cpi) ? walker->stall->input->schedule->insns[insn].min_cycles : cpi;
}

/* Visit insns [first, end) backward. Return: true if the path continues before them. */
static bool visit_insns(struct walker *walker, struct culprit_path *path, uint32_t first,
			uint32_t end)
{
	const struct culprit_walk *walk = walker->walk;

	for (uint32_t i = end; i-- > first;) {
		if (path->cycles > walk->max_cycles) {
			walk->end(walk->ctx, path, CULPRIT_PATH_FAR);
			return false;
		}
		if (++walker->insns > INSNS_MAX) {
			walk->end(walk->ctx, path, CULPRIT_PATH_UNKNOWN);
			return false;
		}
		if (!walk->visit(walk->ctx, path, i))
			return false;
		path->cycles += insn_cycles(walker, i);
	}
	return true;
}

static unsigned int times_entered(const struct walker *walker, uint32_t block)
{
	unsigned int times = 0;

	for (uint32_t i = 0; i < walker->entered_count; i++)
		times += walker->entered[i] == block;
	return times;
}

static void push_block(struct walker *walker, const struct culprit_path *path, uint32_t from)
{
	const struct culprit_walk *walk = walker->walk;

	if (from == CFG_ENTRY) {
		walk->end(walk->ctx, path, CULPRIT_PATH_ENTRY);
		return;
	}
	if (from == CFG_UNKNOWN || walker->entered_count == BLOCKS_MAX ||
	    walker->pending_count == PENDING_MAX) {
		walk->end(walk->ctx, path, CULPRIT_PATH_UNKNOWN);
		return;
	}
	if (times_entered(walker, from) >= 2) {
		walk->end(walk->ctx, path, CULPRIT_PATH_REPEATS);
		return;
	}
	walker->entered[walker->entered_count++] = from;
	walker->pending[walker->pending_count++] = (struct pending){from, *path};
}

static void push_predecessors(struct walker *walker, const struct culprit_path *path,
			      uint32_t block)
{
	const struct cfg *cfg = walker->stall->input->cfg;

	if (cfg->blocks[block].in_count == 0)
		walker->walk->end(walker->walk->ctx, path, CULPRIT_PATH_UNKNOWN);
	for (uint32_t i = 0; i < cfg->blocks[block].in_count; i++) {
		uint32_t edge = cfg->in_edges[cfg->blocks[block].in + i];
		struct culprit_path before = *path;

		before.share *= culprit_edge_share(walker->stall->input, edge);
		if (before.share >= CULPRIT_NEGLIGIBLE)
			push_block(walker, &before, cfg->edges[edge].from);
	}
}

void culprit_path_walk(const struct culprit_stall *stall, const struct culprit_walk *walk,
		       const struct culprit_path *start)
{
	const struct cfg *cfg = stall->input->cfg;
	struct walker walker = {.stall = stall, .walk = walk};
	struct culprit_path path = *start;

	path.cycles = 0;
	path.share = 1;
	if (visit_insns(&walker, &path, cfg->blocks[stall->block].first, stall->insn))
		push_predecessors(&walker, &path, stall->block);
	while (walker.pending_count > 0) {
		struct pending next = walker.pending[--walker.pending_count];
		const struct cfg_block *block = &cfg->blocks[next.block];

		if (visit_insns(&walker, &next.path, block->first, block->first + block->count))
			push_predecessors(&walker, &next.path, next.block);
	}
}
