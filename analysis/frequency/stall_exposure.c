// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/stall_exposure.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/machine/machine_issue.h"
#include "lib/cleanup.h"

#define LINE_BYTES 32
/* Iterations in which pending values are passed on; values that travel further have arrived. */
#define ROUNDS 4

static void remove_regs(struct insn_regs *set, const struct insn_regs *what)
{
	set->words[0] &= ~what->words[0];
	set->words[1] &= ~what->words[1];
}

static bool add_regs(struct insn_regs *set, const struct insn_regs *what)
{
	struct insn_regs before = *set;

	set->words[0] |= what->words[0];
	set->words[1] |= what->words[1];
	return before.words[0] != set->words[0] || before.words[1] != set->words[1];
}

/*
 * Return true if the result may come later than in the best case: a load, an FP division or root.
 */
static bool may_be_late(const struct insn *insn)
{
	return (insn->flags & INSN_READS_MEMORY) != 0 || insn->class == INSN_FP_DIVIDE ||
	       insn->class == INSN_FP_SQRT;
}

/* struct pending - registers with pending values, and those of them that are quotients */
struct pending {
	struct insn_regs values;
	struct insn_regs quotients;
};

static bool add_pending(struct pending *to, const struct pending *from)
{
	bool more = add_regs(&to->values, &from->values);

	return add_regs(&to->quotients, &from->quotients) || more;
}

/* Update the pending values after an instruction. */
static void stall_exposure_step(struct pending *pending, const struct insn *insn)
{
	if (insn_is_call(insn)) {
		*pending = (struct pending){0};
		return;
	}
	remove_regs(&pending->values, &insn->reads);
	remove_regs(&pending->values, &insn->writes);
	remove_regs(&pending->quotients, &insn->reads);
	remove_regs(&pending->quotients, &insn->writes);
	if (may_be_late(insn))
		add_regs(&pending->values, &insn->writes);
	if (insn->class == INSN_DIVIDE)
		add_regs(&pending->quotients, &insn->writes);
}

/* Find the registers with pending values at the beginning of each block. */
static void find_pending(struct pending *at, const struct cfg *cfg)
{
	bool more = true;

	for (int round = 0; more && round < ROUNDS; round++) {
		more = false;
		for (uint32_t b = 0; b < cfg->block_count; b++) {
			const struct cfg_block *block = &cfg->blocks[b];
			struct pending pending = at[b];

			for (uint32_t i = block->first; i < block->first + block->count; i++)
				stall_exposure_step(&pending, &cfg->insns[i]);
			for (uint32_t e = 0; e < block->out_count; e++) {
				uint32_t to = cfg->edges[block->out + e].to;

				if (to < cfg->block_count && add_pending(&at[to], &pending))
					more = true;
			}
		}
	}
}

static bool is_jumped_to(const struct cfg *cfg, const struct cfg_block *block)
{
	for (uint32_t k = 0; k < block->in_count; k++) {
		if (cfg->edges[cfg->in_edges[block->in + k]].kind != CFG_EDGE_NEXT)
			return true;
	}
	return false;
}

/* struct fetch - properties of the machine's instruction fetch */
struct fetch {
	uint64_t line_bytes;
	bool has_bubble;
};

static struct fetch fetch_of(const struct machine_model *model)
{
	struct fetch ret = {.line_bytes = LINE_BYTES};

	if (model != NULL && model->icache.line_bytes > 0)
		ret.line_bytes = model->icache.line_bytes;
	if (model != NULL && model->issue != NULL)
		ret.has_bubble = model->issue->taken_bubble > 0;
	return ret;
}

static enum stall_exposure exposure_of(const struct cfg *cfg, const struct cfg_block *block,
				       uint32_t i, const struct pending *pending,
				       const struct fetch *fetch)
{
	const struct insn *insn = &cfg->insns[i];
	bool returned = i > block->first && insn_is_call(&cfg->insns[i - 1]);

	if (insn_regs_meet(&pending->quotients, &insn->reads))
		return EXPOSED_DIVISION;
	if (i == block->first && is_jumped_to(cfg, block))
		return fetch->has_bubble ? EXPOSED_BUBBLE : EXPOSED_FETCH;
	if (returned && fetch->has_bubble)
		return EXPOSED_BUBBLE;
	if (insn_regs_meet(&pending->values, &insn->reads))
		return EXPOSED_VALUE;
	if (i == block->first)
		return EXPOSED_FALLTHROUGH;
	if ((insn->flags & INSN_READS_MEMORY) != 0)
		return EXPOSED_LOAD;
	if ((insn->flags & INSN_WRITES_MEMORY) != 0)
		return EXPOSED_STORE;
	return returned || insn->address / fetch->line_bytes != insn[-1].address / fetch->line_bytes
		       ? EXPOSED_LINE
		       : EXPOSED_NOT;
}

int stall_exposure_find(uint8_t *ret, const struct cfg *cfg, const struct machine_model *model)
{
	_cleanup_free_ struct pending *at = calloc((size_t)cfg->block_count + 1, sizeof(*at));
	struct fetch fetch = fetch_of(model);

	if (at == NULL)
		return -ENOMEM;
	find_pending(at, cfg);
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		struct pending pending = at[b];

		for (uint32_t i = block->first; i < block->first + block->count; i++) {
			ret[i] = (uint8_t)exposure_of(cfg, block, i, &pending, &fetch);
			stall_exposure_step(&pending, &cfg->insns[i]);
		}
	}
	return 0;
}
