// SPDX-License-Identifier: GPL-2.0-only
/*
 * Baseline estimators that use neither a machine model nor flow, for comparison: they take the
 * samples of an instruction as its frequency, as if each execution took one cycle. "avg" averages
 * over a block (as AutoFDO does), "max" uses the greatest value of a block. The frequency of a
 * block is divided among its edges in proportion to the frequencies of their targets.
 */
#include "analysis/frequency/frequency_estimators.h"

#include <math.h>

static double average(const double *samples, uint32_t count)
{
	double sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += samples[i];
	return sum / count;
}

static double maximum(const double *samples, uint32_t count)
{
	double most = 0;

	for (uint32_t i = 0; i < count; i++)
		most = fmax(most, samples[i]);
	return most;
}

static struct frequency_estimate estimate_of(double value)
{
	return (struct frequency_estimate){
		.value = value,
		.high = 2 * value,
		.confidence = FREQUENCY_LOW,
		.origin = value > 0 ? FREQUENCY_RATIO : FREQUENCY_NONE,
	};
}

static double value_at(const struct frequency *frequency, const struct cfg *cfg, uint32_t end)
{
	return end < cfg->block_count ? frequency->blocks[end].value : 0;
}

static void share_out(struct frequency *ret, const struct cfg *cfg, const struct cfg_block *block,
		      double value)
{
	const struct cfg_edge *edges = cfg->edges + block->out;
	double sum = 0;

	for (uint32_t e = 0; e < block->out_count; e++)
		sum += value_at(ret, cfg, edges[e].to);
	for (uint32_t e = 0; e < block->out_count; e++) {
		double share =
			sum > 0 ? value_at(ret, cfg, edges[e].to) / sum : 1.0 / block->out_count;

		ret->edges[block->out + e] = estimate_of(value * share);
	}
}

static void estimate(struct frequency *ret, const struct frequency_input *input,
		     double (*of_block)(const double *, uint32_t))
{
	const struct cfg *cfg = input->cfg;

	for (uint32_t b = 0; b < cfg->block_count; b++)
		ret->blocks[b] = estimate_of(of_block(
			input->profile->samples + cfg->blocks[b].first, cfg->blocks[b].count));
	for (uint32_t b = 0; b < cfg->block_count; b++)
		share_out(ret, cfg, &cfg->blocks[b], ret->blocks[b].value);
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		if (cfg->edges[e].from >= cfg->block_count)
			ret->edges[e] = estimate_of(value_at(ret, cfg, cfg->edges[e].to));
	}
}

static int estimate_average(struct frequency *ret, const struct frequency_input *input)
{
	estimate(ret, input, average);
	return 0;
}

static int estimate_maximum(struct frequency *ret, const struct frequency_input *input)
{
	estimate(ret, input, maximum);
	return 0;
}

const struct frequency_estimator frequency_average = {
	.name = "avg",
	.summary = "samples of each block's instructions, averaged; no model, no flow",
	.estimate = estimate_average,
};

const struct frequency_estimator frequency_maximum = {
	.name = "max",
	.summary = "samples of each block's greatest instruction; no model, no flow",
	.estimate = estimate_maximum,
};
