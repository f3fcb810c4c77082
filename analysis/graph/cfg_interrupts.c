// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/cfg_interrupts.h"

/* Interrupts are possible at most this many instructions after they are enabled. */
#define DISTANCE_MAX 2

static uint32_t cfg_interrupts_before(const struct cfg *cfg, uint32_t insn, unsigned int distance);

/* Return @insn, @distance instructions before the interrupt, or one before it; UINT32_MAX: none */
static uint32_t cfg_interrupts_at(const struct cfg *cfg, uint32_t insn, unsigned int distance)
{
	const struct insn *before = &cfg->insns[insn];
	unsigned int late = (before->flags & INSN_UNMASKS_LATE) != 0 ? DISTANCE_MAX : 1;

	if (distance > 0 && insn_is_call(before))
		return UINT32_MAX; /* the callee's last instructions are unknown */
	if ((before->flags & INSN_UNMASKS) != 0 && distance == late)
		return insn;
	return distance < DISTANCE_MAX ? cfg_interrupts_before(cfg, insn, distance + 1)
				       : UINT32_MAX;
}

static uint32_t cfg_interrupts_before(const struct cfg *cfg, uint32_t insn, unsigned int distance)
{
	const struct cfg_block *block = &cfg->blocks[cfg->block_of[insn]];
	uint32_t found = UINT32_MAX;

	if (insn > block->first)
		return cfg_interrupts_at(cfg, insn - 1, distance);
	for (uint32_t i = 0; i < block->in_count && found == UINT32_MAX; i++) {
		uint32_t from = cfg->edges[cfg->in_edges[block->in + i]].from;

		if (from < cfg->block_count && cfg->blocks[from].count > 0)
			found = cfg_interrupts_at(
				cfg, cfg->blocks[from].first + cfg->blocks[from].count - 1,
				distance);
	}
	return found;
}

uint32_t cfg_interrupts_enabled(const struct cfg *cfg, uint32_t insn, bool moved)
{
	return cfg_interrupts_at(cfg, insn, moved ? 1 : 0);
}
