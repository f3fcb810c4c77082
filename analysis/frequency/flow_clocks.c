// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/flow_clocks.h"

#include <errno.h>

#include "analysis/frequency/loop_clock.h"
#include "analysis/graph/loop_nest.h"

static double samples_in(const struct loop_nest *nest, const struct cfg *cfg, uint32_t loop,
			 const struct procedure_profile *profile)
{
	double samples = 0;

	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		if (profile->samples[i] > 0 &&
		    loop_nest_contains(nest, cfg, loop, cfg->block_of[i]))
			samples += profile->samples[i];
	}
	return samples;
}

static int loops_take(struct flow_evidence *evidence, const struct loop_nest *nest,
		      const struct frequency_input *input)
{
	const struct procedure_profile *profile = input->profile;
	struct loop_clock clock;
	int taken = 0, r;

	for (uint32_t loop = 0; loop < nest->count; loop++) {
		r = loop_clock_read(&clock, input->cfg, nest, loop, profile);
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		evidence->blocks[nest->loops[loop].header] = (struct flow_block_evidence){
			.samples = samples_in(nest, input->cfg, loop, profile),
			.cycles = clock.pairs / clock.iterations * profile->period_cycles,
			.evenness = 1 / clock.variance,
		};
		taken++;
	}
	return taken;
}

int flow_clocks_take(struct flow_evidence *evidence, const struct frequency_input *input)
{
	struct loop_nest nest;
	int taken;

	if (input->profile->pair_count == 0)
		return 0;
	if (loop_nest_create(&nest, input->cfg) < 0)
		return -ENOMEM;
	taken = loops_take(evidence, &nest, input);
	loop_nest_deinit(&nest);
	return taken;
}
