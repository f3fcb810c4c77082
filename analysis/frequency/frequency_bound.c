// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/frequency_bound.h"

#include <math.h>
#include <stdbool.h>

/* 90% of sums of samples are within this number of standard deviations. */
#define NOISE_SIGMAS 1.645
/* Greatest relative excess of a procedure's modelled best case over the real one. */
#define BEST_CASE_ERROR 0.1

/*
 * A block with this part of the procedure's samples, and no fewer than all blocks around it, cannot
 * have received its samples from them.
 */
#define HOT_PART 0.25
/*
 * If the sampling interrupt waits while interrupts are disabled, samples of that code are
 * elsewhere. A procedure with fewer samples than this may consist of such code, and has no bound.
 */
#define MASKABLE_SAMPLES_MIN 16

/*
 * struct totals - sums over blocks with a frequency, in samples
 * @best:      best case of the estimated executions
 * @least:     the same by bound_least_cycles()
 * @least_low: @least by the lower ends of intervals
 */
struct totals {
	double samples;
	double best;
	double least;
	double least_low;
};

/* struct limits - factors that bring frequencies within their bounds */
struct limits {
	double factor;	 /* of values */
	double room;	 /* of upper ends of intervals, relative to the original values */
	double measured; /* of measured values */
	bool contradicted;
};

/*
 * Return: the cycles of a block that no processor can save. Out of order, dependences from one
 * iteration to the next are not among them. Processors execute additions of constants, moves, and
 * loads of data stored just before in no time, and the models do not contain all of these.
 */
static double bound_least_cycles(const struct frequency_input *input, uint32_t b, double cycles)
{
	return input->model->in_order ? cycles : fmin(input->schedule->block_least[b], cycles);
}

/* @measured: of the block if its estimate is measured, or if it is not; else zeros */
static struct totals totals_of(const struct frequency *frequency,
			       const struct frequency_input *input, uint32_t b, bool measured)
{
	const struct cfg_block *block = &input->cfg->blocks[b];
	const struct frequency_estimate *estimate = &frequency->blocks[b];
	struct totals totals = {.samples = 0};
	double cycles = 0;

	if (!(estimate->value > 0) || estimate->measured != measured)
		return totals;
	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		totals.samples += input->profile->samples[i];
		cycles += input->schedule->insns[i].min_cycles;
	}
	totals.best = cycles * estimate->value;
	totals.least = bound_least_cycles(input, b, cycles) * estimate->value;
	totals.least_low =
		bound_least_cycles(input, b, cycles) * fmin(estimate->low, estimate->value);
	return totals;
}

static double most_of(double samples)
{
	return (samples + NOISE_SIGMAS * sqrt(samples)) * (1 + BEST_CASE_ERROR);
}

static void limit(struct limits *limits, const struct totals *totals, bool in_order)
{
	double most = most_of(totals->samples);

	if (totals->best <= 0 || totals->samples <= 0)
		return;
	limits->room = fmin(limits->room, most / totals->least);
	limits->factor = fmin(limits->factor, (in_order ? most : totals->samples) / totals->best);
	limits->contradicted |= totals->least_low > most;
}

static double samples_of(const struct frequency_input *input, uint32_t b)
{
	const struct cfg_block *block = &input->cfg->blocks[b];
	double samples = 0;

	for (uint32_t i = block->first; i < block->first + block->count; i++)
		samples += input->profile->samples[i];
	return samples;
}

static double samples_around(const struct frequency_input *input, uint32_t b)
{
	const struct cfg *cfg = input->cfg;
	const struct cfg_block *block = &cfg->blocks[b];
	double samples = 0;

	for (uint32_t i = block->in; i < block->in + block->in_count; i++) {
		uint32_t from = cfg->edges[cfg->in_edges[i]].from;

		if (from < cfg->block_count && from != b)
			samples += samples_of(input, from);
	}
	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		uint32_t to = cfg->edges[e].to;

		if (to < cfg->block_count && to != b)
			samples += samples_of(input, to);
	}
	return samples;
}

/* Only for out-of-order machines: in order, each block's estimate already includes its noise. */
static void limit_hot_blocks(struct limits *limits, const struct frequency *frequency,
			     const struct frequency_input *input)
{
	for (uint32_t b = 0; b < input->cfg->block_count; b++) {
		struct totals totals = totals_of(frequency, input, b, false);

		if (totals.samples >= HOT_PART * input->profile->total &&
		    totals.best > totals.samples && totals.samples >= samples_around(input, b))
			limit(limits, &totals, false);
	}
}

/*
 * The model may be wrong by more than the measurement, so that intervals are kept, and values are
 * lowered within the interval, by half of its lower part at most.
 */
static void lower_measured(struct frequency_estimate *estimate, double factor)
{
	double least = sqrt(fmin(estimate->low, estimate->value) * estimate->value);

	estimate->value = fmin(estimate->value, fmax(estimate->value * factor, least));
}

static void lower(struct frequency_estimate *estimate, const struct limits *limits)
{
	if (!(estimate->value > 0))
		return;
	if (estimate->measured) {
		lower_measured(estimate, limits->measured);
		return;
	}
	estimate->high = fmin(estimate->high, estimate->value * limits->room);
	estimate->value *= limits->factor;
	estimate->low = fmin(estimate->low, estimate->value);
	estimate->high = fmax(estimate->high, estimate->value);
}

/* Return the factor that brings measured values within the time of their blocks. */
static double measured_limit(const struct frequency *frequency, const struct frequency_input *input)
{
	struct totals sum = {.samples = 0};

	for (uint32_t b = 0; b < input->cfg->block_count; b++) {
		struct totals totals = totals_of(frequency, input, b, true);

		sum.samples += totals.samples;
		sum.best += totals.best;
	}
	return sum.samples > 0 && sum.best > sum.samples ? sum.samples / sum.best : 1;
}

enum frequency_bound_result frequency_bound(struct frequency *frequency,
					    const struct frequency_input *input)
{
	struct limits limits = {.factor = 1, .room = INFINITY, .measured = 1};
	struct totals all = {.samples = 0};

	if (input->profile->exact != NULL)
		return FREQUENCY_BOUND_KEPT;
	if (input->profile->maskable && input->profile->total < MASKABLE_SAMPLES_MIN)
		return FREQUENCY_BOUND_KEPT;
	for (uint32_t b = 0; b < input->cfg->block_count; b++) {
		struct totals totals = totals_of(frequency, input, b, false);

		all.samples += totals.samples;
		all.best += totals.best;
		all.least += totals.least;
		all.least_low += totals.least_low;
	}
	limit(&limits, &all, input->model->in_order);
	if (!input->model->in_order) {
		limit_hot_blocks(&limits, frequency, input);
		limits.measured = measured_limit(frequency, input);
	}
	for (uint32_t b = 0; b < input->cfg->block_count; b++)
		lower(&frequency->blocks[b], &limits);
	for (uint32_t e = 0; e < input->cfg->edge_count; e++)
		lower(&frequency->edges[e], &limits);
	if (limits.contradicted)
		return FREQUENCY_BOUND_CONTRADICTED;
	return limits.factor < 1 ? FREQUENCY_BOUND_LOWERED : FREQUENCY_BOUND_KEPT;
}
