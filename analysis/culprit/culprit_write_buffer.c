// SPDX-License-Identifier: GPL-2.0-only
/*
 * A full write buffer: only at stores, and only after as many stores as the buffer has entries,
 * within the time in which it empties.
 */
#include "analysis/culprit/culprit_data.h"
#include "analysis/culprit/culprit_path.h"

#include <math.h>

/* A full buffer is searched for in this many instructions before a stall, out of order. */
#define STORES_BACK 16

/*
 * struct search - @share: share of paths that filled the buffer; @unseen: of paths with calls or
 * callers
 */
struct search {
	const struct cfg *cfg;
	double entries;
	double max_cycles;
	double share;
	double unseen;
};

static bool writes(const struct insn *insn)
{
	return (insn->flags & INSN_WRITES_MEMORY) != 0;
}

static bool culprit_write_buffer_visit(void *ctx, struct culprit_path *path, uint32_t index)
{
	struct search *search = ctx;
	const struct insn *insn = &search->cfg->insns[index];

	if (insn->class == INSN_BARRIER || insn->class == INSN_ATOMIC)
		return false; /* it waited until the buffer was empty */
	if (culprit_insn_calls(insn)) {
		search->unseen += path->share;
		return false;
	}
	path->count += writes(insn);
	if (path->count < search->entries)
		return true;
	search->share += path->share;
	return false;
}

static void culprit_write_buffer_end(void *ctx, const struct culprit_path *path,
				     enum culprit_path_end how)
{
	struct search *search = ctx;
	double stores = path->count;

	switch (how) {
	case CULPRIT_PATH_ENTRY:
	case CULPRIT_PATH_UNKNOWN:
		search->unseen += path->share;
		break;
	case CULPRIT_PATH_REPEATS:
		stores *= search->max_cycles / fmax(path->cycles, 1);
		if (stores >= search->entries)
			search->share += path->share;
		break;
	case CULPRIT_PATH_FAR:
		break;
	}
}

/* Stores wait in the buffer for lines that the first cache does not hold. */
static unsigned int rank_out_of_order(const struct culprit_stall *stall)
{
	const struct cfg *cfg = stall->input->cfg;
	const struct insn_memory *memory = &cfg->insns[stall->insn].memory;
	const struct culprit_data data = culprit_data_of(stall);

	if (data.known && !data.resident)
		return 1;
	if (data.known || memory->base == cfg->decoder->stack_pointer)
		return CULPRIT_RANK_IMPROBABLE;
	return 3;
}

/* struct stores - search for a store to lines that the first cache does not hold */
struct stores {
	const struct culprit_stall *stall;
	uint32_t from;
};

static bool culprit_stores_visit(void *ctx, struct culprit_path *path, uint32_t index)
{
	struct stores *stores = ctx;
	struct culprit_stall near = *stores->stall;

	if (++path->count > STORES_BACK || culprit_insn_calls(&near.input->cfg->insns[index]))
		return false;
	near.insn = index;
	if (writes(&near.input->cfg->insns[index]) && rank_out_of_order(&near) <= 1)
		stores->from = index;
	return stores->from == UINT32_MAX;
}

static void culprit_stores_end(void *ctx, const struct culprit_path *path,
			       enum culprit_path_end how)
{
	(void)ctx, (void)path, (void)how;
}

/*
 * Out of order, a store that has no entry in the buffer keeps all later instructions out of the
 * window. The next one to retire may be any instruction near it.
 */
static bool bound_by_near_store(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	struct stores stores = {stall, UINT32_MAX};
	struct culprit_walk walk = {INFINITY, culprit_stores_visit, culprit_stores_end, &stores};
	struct culprit_path start = {.count = 0};

	if (stall->input->model->in_order)
		return false;
	culprit_path_walk(stall, &walk, &start);
	ret->from = stores.from;
	ret->rank = 1;
	ret->high = stall->input->model->write_retire_cycles;
	return stores.from != UINT32_MAX;
}

bool culprit_write_buffer_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	const struct machine_model *model = stall->input->model;
	const struct cfg *cfg = stall->input->cfg;
	double window = (double)model->write_buffer_entries * model->write_retire_cycles;
	struct search search = {cfg, model->write_buffer_entries, window, 0, 0};
	struct culprit_walk walk = {window, culprit_write_buffer_visit, culprit_write_buffer_end,
				    &search};
	struct culprit_path start = {.count = 0};
	double share;

	if (window == 0)
		return false;
	if (!writes(&cfg->insns[stall->insn]))
		return bound_by_near_store(stall, ret);
	culprit_path_walk(stall, &walk, &start);
	share = fmin(search.share + search.unseen, 1);
	ret->rank = search.share < CULPRIT_NEGLIGIBLE ? 2 : 1;
	if (!model->in_order)
		ret->rank = rank_out_of_order(stall);
	ret->high = share * model->write_retire_cycles;
	return share >= CULPRIT_NEGLIGIBLE;
}
