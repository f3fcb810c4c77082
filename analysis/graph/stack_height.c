// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/stack_height.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/insn/insn_effect.h"
#include "lib/cleanup.h"

#define UNKNOWN STACK_HEIGHT_UNKNOWN
#define FRAME_NONE INSN_REG_NONE

/* struct heights - of the stack pointer, and of one register that is a copy: the frame pointer */
struct heights {
	int64_t stack;
	int64_t frame;
	uint8_t frame_reg;
};

static int64_t plus(int64_t height, int64_t constant)
{
	int64_t sum;

	return height == UNKNOWN || __builtin_add_overflow(height, constant, &sum) ? UNKNOWN : sum;
}

static int64_t height_of(const struct heights *heights, const struct cfg *cfg, uint8_t reg)
{
	if (reg == cfg->decoder->stack_pointer)
		return heights->stack;
	return reg == heights->frame_reg ? heights->frame : UNKNOWN;
}

static void pass(struct heights *heights, const struct cfg *cfg, const struct insn *insn)
{
	uint8_t sp = cfg->decoder->stack_pointer;
	struct insn_effect effect = insn_effect_get(cfg->decoder, insn);
	bool is_sum = effect.kind == INSN_EFFECT_SUM && effect.index == INSN_REG_NONE &&
		      effect.bytes == 8;
	int64_t sum =
		is_sum ? plus(height_of(heights, cfg, effect.base), effect.constant) : UNKNOWN;
	int64_t delta;

	if (insn_effect_stack(cfg->decoder, insn, &delta))
		heights->stack = plus(heights->stack, delta);
	else if (insn_effect_leaves(cfg->decoder, insn))
		heights->stack = plus(heights->frame, 8);
	else if (insn_regs_has(&insn->writes, sp))
		heights->stack = is_sum && effect.destination == sp ? sum : UNKNOWN;
	if (is_sum && effect.base == sp && effect.destination != sp &&
	    effect.destination != INSN_REG_NONE) {
		/* Copies in scratch registers are temporary; the frame pointer is preferred. */
		if (heights->frame_reg == FRAME_NONE || heights->frame == UNKNOWN ||
		    insn_effect_is_saved(cfg->decoder, effect.destination)) {
			heights->frame_reg = effect.destination;
			heights->frame = sum;
		}
	} else if (heights->frame_reg != FRAME_NONE &&
		   insn_regs_has(&insn->writes, heights->frame_reg)) {
		heights->frame = UNKNOWN;
	}
}

/* struct spread - @ends: of each block; @insns: before each instruction, or NULL */
struct spread {
	const struct cfg *cfg;
	struct heights *at_start; /* of each block */
	uint8_t *seen;
	uint32_t *stack;
	uint32_t pending;
	int64_t *ends;
	int64_t *insns;
};

static void stack_height_push(struct spread *spread, uint32_t block, const struct heights *heights)
{
	if (block >= spread->cfg->block_count || spread->seen[block])
		return;
	spread->seen[block] = 1;
	spread->at_start[block] = *heights;
	spread->stack[spread->pending++] = block;
}

/* Compilers keep the height at a block the same on all paths to it: following one is enough. */
static void stack_height_run(struct spread *spread)
{
	const struct cfg *cfg = spread->cfg;

	while (spread->pending > 0) {
		uint32_t at = spread->stack[--spread->pending];
		const struct cfg_block *block = &cfg->blocks[at];
		struct heights heights = spread->at_start[at];

		for (uint32_t i = block->first; i < block->first + block->count; i++) {
			if (spread->insns != NULL)
				spread->insns[i] = heights.stack;
			pass(&heights, cfg, &cfg->insns[i]);
		}
		spread->ends[at] = heights.stack;
		for (uint32_t i = 0; i < block->out_count; i++)
			stack_height_push(spread, cfg->edges[block->out + i].to, &heights);
	}
}

static int64_t *heights_create(size_t count)
{
	int64_t *heights = calloc(count, sizeof(*heights));

	for (size_t i = 0; heights != NULL && i < count; i++)
		heights[i] = UNKNOWN;
	return heights;
}

/* @insns: NULL or room for all */
static int heights_find(int64_t **ret, int64_t *insns, const struct cfg *cfg)
{
	const struct heights on_entry = {.frame = UNKNOWN, .frame_reg = FRAME_NONE};
	size_t count = (size_t)cfg->block_count + 1;
	_cleanup_free_ struct heights *at_start = calloc(count, sizeof(*at_start));
	_cleanup_free_ uint8_t *seen = calloc(count, 1);
	_cleanup_free_ uint32_t *stack = calloc(count, sizeof(*stack));
	_cleanup_free_ int64_t *ends = heights_create(count);
	struct spread spread = {.cfg = cfg,
				.at_start = at_start,
				.seen = seen,
				.stack = stack,
				.ends = ends,
				.insns = insns};

	if (at_start == NULL || seen == NULL || stack == NULL || ends == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		if (cfg->edges[i].kind == CFG_EDGE_ENTRY)
			stack_height_push(&spread, cfg->edges[i].to, &on_entry);
	}
	stack_height_run(&spread);
	*ret = take_ptr(ends);
	return 0;
}

int stack_height_find(int64_t **heights, const struct cfg *cfg)
{
	return heights_find(heights, NULL, cfg);
}

int stack_height_insns(int64_t **heights, const struct cfg *cfg)
{
	_cleanup_free_ int64_t *insns = heights_create((size_t)cfg->insn_count + 1);
	_cleanup_free_ int64_t *ends = NULL;
	int r = insns != NULL ? heights_find(&ends, insns, cfg) : -ENOMEM;

	if (r == 0)
		*heights = take_ptr(insns);
	return r;
}
