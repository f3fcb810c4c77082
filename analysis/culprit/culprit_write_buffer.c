// SPDX-License-Identifier: GPL-2.0-only
/*
 * A full write buffer: only at stores, and only after as many stores as the buffer has entries,
 * within the time in which it empties.
 */
#include "analysis/culprit/culprit_path.h"

#include <math.h>

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

	if (!writes(&cfg->insns[stall->insn]) || window == 0)
		return false;
	culprit_path_walk(stall, &walk, &start);
	share = fmin(search.share + search.unseen, 1);
	ret->doubt = search.share < CULPRIT_NEGLIGIBLE ? 2 : 1;
	ret->high = share * model->write_retire_cycles;
	return share >= CULPRIT_NEGLIGIBLE;
}
