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
#include "analysis/graph/cfg_interrupts.h"

bool culprit_interrupts_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	const struct procedure_profile *profile = stall->input->profile;

	if (!profile->maskable)
		return false;
	ret->rank = CULPRIT_RANK_FIRST;
	/* In order, samples may have been moved back to the instruction before. */
	ret->from = cfg_interrupts_enabled(stall->input->cfg, stall->insn, profile->taken != NULL);
	return ret->from != UINT32_MAX;
}
