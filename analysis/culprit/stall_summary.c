// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/culprit/stall_summary.h"

#include <math.h>

static void add_culprits(struct stall_summary *summary, const struct culprits *culprits,
			 uint32_t insn, double frequency)
{
	const struct instruction_cpi *stalled = &culprits->insns[insn];
	double unexplained = culprits_unexplained(culprits, insn) * frequency;

	for (uint32_t i = 0; i < stalled->count; i++) {
		const struct culprit *culprit = &culprits->list[stalled->first + i];

		summary->low[culprit->cause] += culprit->cycles_low * frequency;
		summary->high[culprit->cause] += culprit->cycles_high * frequency;
	}
	summary->low[CULPRIT_UNEXPLAINED] += unexplained;
	summary->high[CULPRIT_UNEXPLAINED] += unexplained;
}

/* Static stalls by kind; where a schedule lists more than it waits, in proportion. */
static void add_static(struct stall_summary *summary, const struct schedule_insn *schedule,
		       double static_cycles, double frequency)
{
	double listed = 0;

	for (unsigned int i = 0; i < schedule->stall_count; i++)
		listed += schedule->stalls[i].cycles;
	for (unsigned int i = 0; listed > 0 && i < schedule->stall_count; i++)
		summary->stalls[schedule->stalls[i].kind] +=
			schedule->stalls[i].cycles / listed * static_cycles * frequency;
}

static void add_insn(struct stall_summary *summary, const struct culprit_input *input,
		     const struct culprits *culprits, uint32_t index)
{
	const struct instruction_cpi *insn = &culprits->insns[index];
	const struct schedule_insn *schedule = &input->schedule->insns[index];
	double frequency = input->frequency->blocks[input->cfg->block_of[index]].value;
	double samples = input->profile->samples[index];
	double dynamic = samples - schedule->min_cycles * frequency;

	if (isnan(insn->cpi))
		return;
	summary->tallied += samples;
	summary->actual_cycles += samples;
	summary->best_cycles += schedule->min_cycles * frequency;
	summary->instructions += frequency;
	summary->execution += insn->execution * frequency;
	add_static(summary, schedule, insn->static_cycles, frequency);
	if (!insn->significant) {
		summary->sampling_error += dynamic;
	} else if (dynamic < 0) {
		summary->gain += dynamic;
	} else {
		summary->dynamic += dynamic;
		add_culprits(summary, culprits, index, frequency);
	}
}

void stall_summary_add(struct stall_summary *summary, const struct culprit_input *input,
		       const struct culprits *culprits)
{
	summary->samples += input->profile->total;
	for (uint32_t i = 0; i < input->cfg->insn_count; i++)
		add_insn(summary, input, culprits, i);
}
