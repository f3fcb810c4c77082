// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/delayed_samples.h"

#include "analysis/graph/cfg_interrupts.h"

static double block_samples(const struct procedure_profile *profile, const struct cfg_block *block)
{
	double samples = 0;

	for (uint32_t i = block->first; i < block->first + block->count; i++)
		samples += profile->samples[i];
	return samples;
}

/* An interrupt during such an instruction is taken at the next one. */
static bool has_left(const struct cfg *cfg, const struct cfg_block *block, uint32_t insn)
{
	return (cfg->insns[insn].flags & INSN_LEAVES) != 0 ||
	       (insn > block->first && (cfg->insns[insn - 1].flags & INSN_LEAVES) != 0);
}

bool delayed_samples_block(const struct procedure_profile *profile, const struct cfg *cfg,
			   uint32_t b)
{
	const struct cfg_block *block = &cfg->blocks[b];
	double delayed = 0;

	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		if (profile->samples[i] <= 0)
			continue;
		if (has_left(cfg, block, i) ||
		    (profile->maskable &&
		     cfg_interrupts_enabled(cfg, i, profile->taken != NULL) != UINT32_MAX))
			delayed += profile->samples[i];
	}
	return 2 * delayed > block_samples(profile, block);
}

bool delayed_samples_most(const struct procedure_profile *profile, const struct cfg *cfg)
{
	double delayed = 0;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		if (delayed_samples_block(profile, cfg, b))
			delayed += block_samples(profile, &cfg->blocks[b]);
	}
	return 2 * delayed > profile->total;
}
