// SPDX-License-Identifier: GPL-2.0-only
/*
 * D-cache misses: in order, an instruction waits for a register that a load will write, and no
 * earlier instruction has waited for that load.
 */
#include "analysis/culprit/culprit_data.h"
#include "analysis/culprit/culprit_forward.h"
#include "analysis/culprit/culprit_path.h"

#include <math.h>

/* A miss that waits for other misses in progress takes this many times as long. */
#define QUEUED_MISSES 4

/* struct search - @from: the most likely load, @from_share: share of the paths with that load */
struct search {
	const struct culprit_stall *stall;
	const struct cfg *cfg;
	double share;
	double likely_share;
	double from_share;
	uint32_t from;
};

/* Registers that an instruction loads from memory, without the address register that it updates. */
static struct insn_regs loaded_regs(const struct insn *insn)
{
	struct insn_regs regs = insn->writes;

	if ((insn->flags & INSN_READS_MEMORY) == 0)
		return (struct insn_regs){0};
	if (insn->memory.pushes && insn->memory.base < INSN_REGS &&
	    insn->destination != insn->memory.base)
		regs.words[insn->memory.base / 64] &= ~(UINT64_C(1) << insn->memory.base % 64);
	return regs;
}

/* Registers in which a procedure returns a value that it may just have loaded. */
static struct insn_regs returned_regs(void)
{
	struct insn_regs regs = {0};

	insn_regs_add(&regs, 0); /* rax, x0, v0 */
	insn_regs_add(&regs, INSN_REG_FP);
	return regs;
}

static struct insn_regs argument_regs(enum insn_isa isa)
{
	static const uint8_t x86[] = {7, 6, 2, 1, 8, 9};
	struct insn_regs regs = {0};

	for (unsigned int i = 0; i < 8; i++) {
		if (isa == INSN_ISA_X86_64 && i < sizeof(x86))
			insn_regs_add(&regs, x86[i]);
		if (isa == INSN_ISA_ARM64)
			insn_regs_add(&regs, i);
		if (isa == INSN_ISA_ALPHA && i < 6)
			insn_regs_add(&regs, 16 + i);
		insn_regs_add(&regs, INSN_REG_FP + (isa == INSN_ISA_ALPHA ? 16 + i : i));
	}
	return regs;
}

/* Accesses to the stack and to constants rarely miss the cache. */
static bool usually_hits(const struct cfg *cfg, const struct insn *insn)
{
	return insn->memory.pc_relative || (insn->memory.base == cfg->decoder->stack_pointer &&
					    insn->memory.index == INSN_REG_NONE);
}

static void suspect(struct search *search, const struct culprit_path *path, uint32_t insn,
		    bool likely)
{
	double weight = likely ? path->share : path->share / 16;

	search->share += path->share;
	if (likely)
		search->likely_share += path->share;
	if (weight > search->from_share) {
		search->from = insn;
		search->from_share = weight;
	}
}

static bool culprit_dcache_visit(void *ctx, struct culprit_path *path, uint32_t index)
{
	struct search *search = ctx;
	const struct insn *insn = &search->cfg->insns[index];
	struct insn_regs loaded = loaded_regs(insn);
	struct insn_regs returned;

	if (insn_regs_meet(&path->regs, &loaded)) {
		bool likely = !usually_hits(search->cfg, insn);

		suspect(search, path, index, likely);
		if (likely)
			return false;
	}
	if (insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT) {
		returned = returned_regs();
		if (insn_regs_meet(&path->regs, &returned))
			suspect(search, path, index, false);
		return false;
	}
	/* In order, an instruction that reads or overwrites a register has waited for it. */
	insn_regs_remove(&path->regs, &insn->writes);
	insn_regs_remove(&path->regs, &insn->reads);
	return path->regs.words[0] != 0 || path->regs.words[1] != 0;
}

static void culprit_dcache_end(void *ctx, const struct culprit_path *path,
			       enum culprit_path_end how)
{
	struct search *search = ctx;
	struct insn_regs arguments = argument_regs(search->cfg->decoder->isa);

	if (how == CULPRIT_PATH_UNKNOWN ||
	    (how == CULPRIT_PATH_ENTRY && insn_regs_meet(&path->regs, &arguments)))
		suspect(search, path, UINT32_MAX, false);
}

/*
 * Bound by the events of the load, sampled from the load to the instruction after the stalled one.
 */
static double events_bound(const struct culprit_stall *stall, uint32_t from)
{
	const struct cfg *cfg = stall->input->cfg;
	const struct cfg_block *block = &cfg->blocks[stall->block];
	unsigned int cycles = stall->input->model->dcache.miss_cycles_max;
	uint32_t last = block->first + block->count - 1;
	uint32_t first = block->first;
	double bound = 0;

	if (from == UINT32_MAX)
		return INFINITY;
	if (last > stall->insn + 1)
		last = stall->insn + 1;
	if (from < stall->insn && cfg->block_of[from] == stall->block) {
		first = from;
	} else {
		const struct cfg_block *other = &cfg->blocks[cfg->block_of[from]];

		bound = culprit_event_bound(stall, PROFILE_ROLE_DMISS, from,
					    other->first + other->count - 1, cycles);
	}
	return bound + culprit_event_bound(stall, PROFILE_ROLE_DMISS, first, last, cycles);
}

/*
 * A miss takes longer than short stalls, and an atomic access waits without a miss, too. If the
 * first cache is likely to hold the data, anything else is likelier.
 */
static unsigned int rank_out_of_order(const struct culprit_stall *stall,
				      const struct culprit_data *data)
{
	const struct cfg *cfg = stall->input->cfg;
	const struct insn *insn = &cfg->insns[stall->insn];

	if (data->known && data->resident)
		return CULPRIT_RANK_IMPROBABLE;
	if (data->known && data->misses_least > CULPRIT_MINOR_SHARE)
		return 0;
	if (usually_hits(cfg, insn) || insn->class == INSN_ATOMIC ||
	    culprit_shares(stall->input, stall->insn))
		return 3;
	return stall->cycles * data->accesses < stall->input->model->dcache.miss_cycles_min ? 3 : 0;
}

/* Users of a value wait outside of the queue; the instruction that cannot retire is the load. */
static bool bound_out_of_order(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	const struct cfg *cfg = stall->input->cfg;
	const struct insn *insn = &cfg->insns[stall->insn];
	struct culprit_forward forward;
	struct culprit_data data;

	if ((insn->flags & INSN_READS_MEMORY) == 0 || culprit_forward_find(stall, &forward))
		return false;
	ret->high = events_bound(stall, stall->insn);
	data = culprit_data_of(stall);
	if (data.known) {
		ret->high = fmin(ret->high, data.miss_cycles_most);
		ret->certain = data.misses_least;
	}
	ret->rank = rank_out_of_order(stall, &data);
	return ret->high > 0;
}

/* struct queue - of misses; @share: share of the paths that may have filled it */
struct queue {
	const struct cfg *cfg;
	double misses;
	double max_cycles;
	double share;
};

/*
 * Count the loads before the stalled one whose results are not used. @path.regs: registers used so
 * far.
 */
static bool visit_queue(void *ctx, struct culprit_path *path, uint32_t index)
{
	struct queue *queue = ctx;
	const struct insn *insn = &queue->cfg->insns[index];
	struct insn_regs loaded = loaded_regs(insn);

	if (insn_regs_meet(&loaded, &path->regs) || culprit_insn_calls(insn))
		return false;
	path->count += (insn->flags & INSN_READS_MEMORY) != 0 && !usually_hits(queue->cfg, insn);
	insn_regs_remove(&path->regs, &insn->writes);
	path->regs.words[0] |= insn->reads.words[0];
	path->regs.words[1] |= insn->reads.words[1];
	if (path->count < queue->misses)
		return true;
	queue->share += path->share;
	return false;
}

static void end_queue(void *ctx, const struct culprit_path *path, enum culprit_path_end how)
{
	struct queue *queue = ctx;

	if (how == CULPRIT_PATH_REPEATS &&
	    path->count * queue->max_cycles >= queue->misses * fmax(path->cycles, 1))
		queue->share += path->share;
}

/* A load that misses waits while the greatest possible number of misses is in progress. */
static bool bound_queue(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	const struct machine_model *model = stall->input->model;
	const struct insn *insn = &stall->input->cfg->insns[stall->insn];
	struct queue queue = {stall->input->cfg, model->load_misses, model->dcache.miss_cycles_max,
			      0};
	struct culprit_walk walk = {queue.max_cycles, visit_queue, end_queue, &queue};
	struct culprit_path start = {.regs = insn->reads};

	if ((insn->flags & INSN_READS_MEMORY) == 0 || model->load_misses == 0 ||
	    usually_hits(stall->input->cfg, insn))
		return false;
	culprit_path_walk(stall, &walk, &start);
	ret->rank = 1;
	ret->high = fmin(fmin(queue.share, 1) * model->dcache.miss_cycles_max,
			 events_bound(stall, stall->insn));
	return queue.share >= CULPRIT_NEGLIGIBLE;
}

bool culprit_dcache_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	const struct cfg *cfg = stall->input->cfg;
	const struct insn *insn = &cfg->insns[stall->insn];
	double longest = stall->input->model->dcache.miss_cycles_max;
	struct search search = {.stall = stall, .cfg = cfg, .from = UINT32_MAX};
	struct culprit_walk walk = {longest, culprit_dcache_visit, culprit_dcache_end, &search};
	struct culprit_path start = {.regs = insn->reads};

	if (longest == 0)
		return false;
	if (!stall->input->model->in_order)
		return bound_out_of_order(stall, ret);
	if ((insn->flags & INSN_ZEROES) != 0)
		return false;
	/* A pending result must not overwrite a later one. */
	start.regs.words[0] |= insn->writes.words[0];
	start.regs.words[1] |= insn->writes.words[1];
	culprit_path_walk(stall, &walk, &start);
	if (search.share < CULPRIT_NEGLIGIBLE)
		return bound_queue(stall, ret);
	ret->from = search.from;
	ret->rank = search.likely_share < CULPRIT_NEGLIGIBLE ? 2 : 0;
	ret->high = fmin(fmin(search.share, 1) * longest * QUEUED_MISSES,
			 events_bound(stall, search.from));
	return true;
}
