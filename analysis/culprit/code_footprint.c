// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/culprit/code_footprint.h"

#include <math.h>

#include "analysis/culprit/cache_residency.h"

/* The bin of frequency 1. */
static const int middle = CODE_FOOTPRINT_BINS / 2;

static int bin_of(double frequency)
{
	double bin = round(log2(frequency) * CODE_FOOTPRINT_STEPS) + middle;

	return (int)fmin(fmax(bin, 0), CODE_FOOTPRINT_BINS - 1);
}

static double frequency_of(int bin)
{
	return exp2((double)(bin - middle) / CODE_FOOTPRINT_STEPS);
}

void code_footprint_add(struct code_footprint *footprint, const struct cfg *cfg,
			const struct frequency *frequency)
{
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct insn *first = &cfg->insns[cfg->blocks[b].first];
		const struct insn *last = first + cfg->blocks[b].count - 1;
		double value = frequency->blocks[b].value;

		if (value > 0)
			footprint->bytes[bin_of(value)] +=
				(double)(last->address + last->bytes - first->address);
	}
}

/* Return the bytes of different code that are executed within a time. */
static double executed_in(const void *code, double time)
{
	const struct code_footprint *footprint = code;
	double sum = 0;

	for (int bin = 0; bin < CODE_FOOTPRINT_BINS; bin++)
		if (footprint->bytes[bin] > 0)
			sum -= footprint->bytes[bin] * expm1(-frequency_of(bin) * time);
	return sum;
}

void code_footprint_settle(struct code_footprint *footprint, double bytes)
{
	footprint->residency = cache_residency(executed_in, footprint, bytes);
}

double code_footprint_miss_share(const struct code_footprint *footprint, double frequency)
{
	return exp(-frequency * footprint->residency);
}
