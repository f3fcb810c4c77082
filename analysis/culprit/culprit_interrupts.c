// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time with interrupts disabled. A timer, and a counter without NMIs, cannot interrupt this code:
 * its samples are taken at the first instruction at which interrupts are possible again
 * (docs/blind-spots.md). The paper describes this effect for code at the highest priority (section
 * 4.1.3), and does not attribute it.
 *
 * A path to that instruction counts even if its estimated share is negligible: the samples
 * themselves prove that control took it.
 */
#include "analysis/culprit/culprit_rule.h"

/* Interrupts are possible at most this many instructions after they are enabled. */
#define DISTANCE_MAX 2

static uint32_t culprit_interrupts_before(const struct cfg *cfg, uint32_t insn,
					  unsigned int distance);

/* Return @insn, @distance instructions before the interrupt, or one before it; UINT32_MAX: none */
static uint32_t culprit_interrupts_at(const struct cfg *cfg, uint32_t insn, unsigned int distance)
{
	const struct insn *before = &cfg->insns[insn];
	unsigned int late = (before->flags & INSN_UNMASKS_LATE) != 0 ? DISTANCE_MAX : 1;

	if (distance > 0 && insn_is_call(before))
		return UINT32_MAX; /* the callee's last instructions are unknown */
	if ((before->flags & INSN_UNMASKS) != 0 && distance == late)
		return insn;
	return distance < DISTANCE_MAX ? culprit_interrupts_before(cfg, insn, distance + 1)
				       : UINT32_MAX;
}

static uint32_t culprit_interrupts_before(const struct cfg *cfg, uint32_t insn,
					  unsigned int distance)
{
	const struct cfg_block *block = &cfg->blocks[cfg->block_of[insn]];
	uint32_t found = UINT32_MAX;

	if (insn > block->first)
		return culprit_interrupts_at(cfg, insn - 1, distance);
	for (uint32_t i = 0; i < block->in_count && found == UINT32_MAX; i++) {
		uint32_t from = cfg->edges[cfg->in_edges[block->in + i]].from;

		if (from < cfg->block_count && cfg->blocks[from].count > 0)
			found = culprit_interrupts_at(
				cfg, cfg->blocks[from].first + cfg->blocks[from].count - 1,
				distance);
	}
	return found;
}

bool culprit_interrupts_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	const struct procedure_profile *profile = stall->input->profile;

	if (!profile->maskable)
		return false;
	ret->rank = CULPRIT_RANK_FIRST;
	/* In order, samples may have been moved back to the instruction before. */
	ret->from = culprit_interrupts_at(stall->input->cfg, stall->insn, profile->taken != NULL);
	return ret->from != UINT32_MAX;
}
