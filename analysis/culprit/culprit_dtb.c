// SPDX-License-Identifier: GPL-2.0-only
/*
 * DTB misses of memory accesses. Most accesses are near an earlier one with the same address
 * registers; the probability of a new page is then proportional to the distance.
 */
#include "analysis/culprit/culprit_data.h"
#include "analysis/culprit/culprit_path.h"

#include <math.h>
#include <stdlib.h>

/* The translation of a page that was accessed longer ago may have been evicted. */
#define MEMORY_CYCLES 2000

#define EVENT_SKID 4

/* struct search - @pages: new pages per execution */
struct search {
	const struct culprit_stall *stall;
	const struct insn *insn;
	double page_bytes;
	double pages;
};

static struct insn_regs address_regs(const struct insn *insn)
{
	struct insn_regs regs = {0};

	insn_regs_add(&regs, insn->memory.base);
	insn_regs_add(&regs, insn->memory.index);
	return regs;
}

static bool accesses_memory(const struct insn *insn)
{
	return (insn->flags & (INSN_READS_MEMORY | INSN_WRITES_MEMORY)) != 0;
}

static bool same_registers(const struct insn_memory *a, const struct insn_memory *b)
{
	return a->base == b->base && a->index == b->index && a->scale == b->scale;
}

/*
 * Return true if an instruction changes a register by a small amount: it computes the register from
 * itself and a constant (addition, rounding down). @distance: out
 */
static bool has_small_stride(const struct insn *insn, const struct insn_regs *regs,
			     double *distance)
{
	struct insn_regs other = insn->reads;

	if (accesses_memory(insn)) { /* pre- and post-indexed: by the operands of the access */
		*distance = fabs((double)insn->memory.displacement) +
			    fabs((double)insn->immediate) + insn->memory.bytes;
		return insn->memory.pushes && insn->destination != insn->memory.base;
	}
	if (insn->class != INSN_ALU || insn->destination >= INSN_REGS ||
	    !insn_regs_has(regs, insn->destination) || !insn_regs_has(&other, insn->destination))
		return false;
	other.words[insn->destination / 64] &= ~(UINT64_C(1) << insn->destination % 64);
	*distance = fabs((double)insn->immediate);
	return other.words[0] == 0 && other.words[1] == 0 && insn->immediate != 0;
}

static void add_pages(struct search *search, const struct culprit_path *path, double distance)
{
	search->pages += path->share * fmin(distance / search->page_bytes, 1);
}

static bool culprit_dtb_visit(void *ctx, struct culprit_path *path, uint32_t index)
{
	struct search *search = ctx;
	const struct insn *insn = &search->stall->input->cfg->insns[index];
	double distance;

	/* A load may overwrite its own address register after the access. */
	if (insn_regs_meet(&insn->writes, &path->regs)) {
		if (!has_small_stride(insn, &path->regs, &distance)) {
			add_pages(search, path, INFINITY);
			return false;
		}
		path->drift += ldexp(distance, search->insn->memory.scale);
	}
	if (accesses_memory(insn) && same_registers(&insn->memory, &search->insn->memory)) {
		add_pages(search, path,
			  path->drift + fabs((double)search->insn->memory.displacement -
					     (double)insn->memory.displacement));
		return false;
	}
	return true;
}

static void culprit_dtb_end(void *ctx, const struct culprit_path *path, enum culprit_path_end how)
{
	/* Around a loop that changes the registers by a small amount, back to the access itself. */
	if (how == CULPRIT_PATH_REPEATS)
		add_pages(ctx, path, path->drift);
	else
		add_pages(ctx, path, INFINITY);
}

/*
 * The entries for the pages of lines are eight times as dense as the lines, or denser. So a cache
 * that serves the line also serves its entry, and the walk takes no longer than the access after
 * it. Stores retire before their access. Loads need a line, too, so that a miss of the DTB alone is
 * unlikely unless the pages are known not to fit.
 */
static void bound_out_of_order(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	const struct insn *insn = &stall->input->cfg->insns[stall->insn];
	const struct culprit_data data = culprit_data_of(stall);
	bool loads = (insn->flags & INSN_READS_MEMORY) != 0;

	ret->rank = loads ? 2 : 3;
	if (data.known) {
		ret->high = fmin(ret->high, data.dtb_cycles_most);
		if (data.mapped)
			ret->rank = CULPRIT_RANK_IMPROBABLE;
		else if (data.far_pages && loads)
			ret->rank = 0;
	}
	if (!data.known || !data.resident)
		ret->high = fmin(ret->high, stall->cycles / 2);
}

bool culprit_dtb_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	const struct cfg *cfg = stall->input->cfg;
	const struct machine_cache *dtb = &stall->input->model->dtb;
	const struct cfg_block *block = &cfg->blocks[stall->block];
	const struct insn *insn = &cfg->insns[stall->insn];
	uint32_t last = block->first + block->count - 1;
	struct search search = {.stall = stall, .insn = insn, .page_bytes = dtb->line_bytes};
	struct culprit_walk walk = {MEMORY_CYCLES, culprit_dtb_visit, culprit_dtb_end, &search};
	struct culprit_path start = {.regs = address_regs(insn)};

	if (!accesses_memory(insn) || dtb->line_bytes == 0 || dtb->miss_cycles_max == 0)
		return false;
	/* Pages of the stack and of constants are always in use. */
	if (insn->memory.pc_relative || insn->memory.base == cfg->decoder->stack_pointer)
		return false;
	ret->rank = 1;
	culprit_path_walk(stall, &walk, &start);
	if (last > stall->insn + EVENT_SKID)
		last = stall->insn + EVENT_SKID;
	ret->high = fmin(fmin(search.pages, 1) * dtb->miss_cycles_max,
			 culprit_event_bound(stall, PROFILE_ROLE_DTB_MISS, stall->insn, last,
					     dtb->miss_cycles_max));
	if (!stall->input->model->in_order)
		bound_out_of_order(stall, ret);
	return ret->high > 0;
}
