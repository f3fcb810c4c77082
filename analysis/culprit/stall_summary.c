// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/culprit/stall_summary.h"

#include <math.h>

/* 90% of values are within this number of standard deviations. */
#define NOISE_SIGMAS 1.645
/*
 * Out of order, the part of a frequency's uncertainty that all procedures of a program share: the
 * program's spread divided by the common one, PROGRAM_SPREAD / COMMON_SPREAD of frequency_flow.c.
 */
#define SHARED_PART 0.82

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

/* Add static stalls by kind; if the schedule lists more than the static cycles, in proportion. */
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
		summary->error_variance += samples;
	} else if (dynamic < 0) {
		summary->gain += dynamic;
	} else {
		summary->dynamic += dynamic;
		add_culprits(summary, culprits, index, frequency);
	}
}

static void deviate(struct stall_deviation *deviation, double by, double shared)
{
	deviation->shared += by * shared;
	deviation->own += by * by * (1 - shared * shared);
}

/* Errors of a procedure's frequencies are correlated, so their deviations add up linearly. */
static void add_intervals(struct stall_summary *summary, const struct culprit_input *input,
			  const struct culprits *culprits)
{
	double shared = input->model->in_order ? 0 : SHARED_PART;
	double fewer = 0, more = 0, best = 0;

	for (uint32_t i = 0; i < input->cfg->insn_count; i++) {
		const struct frequency_estimate *estimate =
			&input->frequency->blocks[input->cfg->block_of[i]];

		if (isnan(culprits->insns[i].cpi))
			continue;
		fewer += estimate->value - fmin(estimate->low, estimate->value);
		more += fmax(estimate->high, estimate->value) - estimate->value;
		best += input->schedule->insns[i].min_cycles *
			(fmax(estimate->high, estimate->value) -
			 fmin(estimate->low, estimate->value));
	}
	/* Counted executions are all scaled by the same number. */
	if (input->profile->exact != NULL)
		shared = 1;
	deviate(&summary->fewer, fewer, shared);
	deviate(&summary->more, more, shared);
	best /= 2 * NOISE_SIGMAS;
	if (input->model->in_order)
		summary->error_variance += best * best;
}

void stall_summary_add(struct stall_summary *summary, const struct culprit_input *input,
		       const struct culprits *culprits)
{
	summary->samples += input->profile->total;
	summary->published |= input->thorough;
	summary->in_order |= input->model->in_order;
	summary->out_of_order |= !input->model->in_order;
	for (uint32_t i = 0; i < input->cfg->insn_count; i++)
		add_insn(summary, input, culprits, i);
	add_intervals(summary, input, culprits);
}

double stall_summary_noise(const struct stall_summary *summary)
{
	return NOISE_SIGMAS * sqrt(summary->error_variance);
}

void stall_summary_settle(struct stall_summary *summary)
{
	double rest = summary->sampling_error;

	if (summary->published || fabs(rest) <= stall_summary_noise(summary))
		return;
	summary->sampling_error = 0;
	if (rest < 0) {
		summary->gain += rest;
	} else {
		summary->dynamic += rest;
		summary->high[CULPRIT_UNEXPLAINED] += rest;
	}
}

static double size_of(const struct stall_deviation *deviation)
{
	return hypot(deviation->shared, sqrt(deviation->own));
}

void stall_summary_cpi(const struct stall_summary *summary, double *low, double *high)
{
	double fewest = summary->instructions - size_of(&summary->fewer);
	double most = summary->instructions + size_of(&summary->more);

	*low = fmax(summary->actual_cycles / most, summary->best_cycles / summary->instructions);
	*high = fewest > 0 ? summary->actual_cycles / fewest : INFINITY;
}
