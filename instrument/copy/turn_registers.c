// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/turn_registers.h"

static uint32_t used_by(const struct insn *insn)
{
	struct liveness_effect effect = liveness_effect(insn);
	uint32_t halves = effect.looks | effect.kills;

	return (halves | halves >> LIVENESS_LOW | effect.writes) & LIVENESS_REGISTERS;
}

/* In a block, and on all ways from there. */
static uint32_t used_in(const struct liveness *liveness, uint32_t number)
{
	const struct cfg *cfg = liveness->cfg;
	const struct cfg_block *block = &cfg->blocks[number];
	uint32_t used = liveness->in[number] | liveness->out[number];

	for (uint32_t i = block->first; i < block->first + block->count; i++)
		used |= used_by(&cfg->insns[i]);
	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		if (cfg->edges[e].to >= cfg->block_count)
			used |= LIVENESS_REGISTERS;
	}
	return used;
}

static uint32_t find(const struct liveness *liveness, const struct turn_strides *strides,
		     const struct turn_stride *stride)
{
	const uint32_t *blocks = strides->blocks + stride->first;
	uint32_t used = 0, free;

	if (liveness->in[blocks[0]] & LIVENESS_FLAGS & ~LIVENESS_CARRY)
		return 0;
	for (uint32_t i = 0; i < stride->count; i++)
		used |= used_in(liveness, blocks[i]);
	free = liveness_free_registers(liveness, used) & LIVENESS_REGISTERS;
	return free & -free;
}

void turn_registers_find(struct turn_strides *strides, const struct liveness *liveness)
{
	for (size_t s = 0; s < strides->count; s++) {
		struct turn_stride *stride = &strides->all[s];

		stride->counter = find(liveness, strides, stride);
		if (stride->counter != 0)
			stride->turns = 1;
	}
}
