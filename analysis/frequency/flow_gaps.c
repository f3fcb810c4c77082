// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/flow_gaps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/graph/loop_nest.h"
#include "lib/cleanup.h"

/* Greatest other time, relative to the loop's, with which a loop has nearly all of the time. */
#define REST_MAX 0.15
/* Probe windows are rarely longer. */
#define STAY_NS 12e6
/* Relative variance of a rate that was measured in many windows. */
#define VARIANCE 0.0025

/* @calls: of each block: true if it contains a call */
struct loops {
	const struct cfg *cfg;
	const struct flow_chain *chain;
	struct loop_nest nest;
	bool *calls;
};

/* struct stay - time in a loop; @entries: executions in the unit of block estimates */
struct stay {
	double samples;
	double entries;
	bool calls;
};

static bool flow_gaps_is_inside(const struct loops *loops, uint32_t loop, uint32_t node)
{
	return loop_nest_contains(&loops->nest, loops->cfg, loop, node);
}

static struct stay stay_in(const struct loops *loops, uint32_t loop, const struct flow_fit *fit,
			   const struct procedure_profile *profile)
{
	const struct cfg *cfg = loops->cfg;
	struct stay stay = {.samples = 0};

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];

		if (!flow_gaps_is_inside(loops, loop, b))
			continue;
		stay.calls |= loops->calls[b];
		for (uint32_t i = block->first; i < block->first + block->count; i++)
			stay.samples += profile->samples[i];
		for (uint32_t i = 0; i < block->in_count; i++) {
			uint32_t e = cfg->in_edges[block->in + i];

			if (!flow_gaps_is_inside(loops, loop, cfg->edges[e].from))
				stay.entries += fit->nodes[loops->chain->from[e]] * fit->edges[e] *
						profile->period_cycles;
		}
	}
	return stay;
}

static bool is_nearly_all(const struct stay *stay, const struct procedure_profile *profile)
{
	return profile->all - stay->samples <= REST_MAX * stay->samples;
}

/*
 * Search from the outermost loop inward to @loop, the innermost one.
 *
 * Return: true if there is a loop that contains the windows of a branch in @loop; @ret describes
 * it.
 */
static bool find_stay(struct stay *ret, const struct loops *loops, uint32_t loop,
		      const struct flow_fit *fit, const struct procedure_profile *profile)
{
	uint32_t path[LOOP_NEST_DEPTH_MAX], depth = 0;
	bool found = false, more = true;

	for (; loop != LOOP_NEST_NONE; loop = loops->nest.loops[loop].parent)
		path[depth++] = loop;
	while (more && depth > 0) {
		struct stay stay = stay_in(loops, path[--depth], fit, profile);
		bool all = is_nearly_all(&stay, profile);
		bool lasts = stay.samples * profile->clock_ns >= STAY_NS * stay.entries;

		more = all || lasts;
		if (all || (lasts && !stay.calls)) {
			*ret = stay;
			found = true;
		}
	}
	return found;
}

/*
 * Evidence from the loop's time and, if its callees' time is included, half of all other time: any
 * part of that may be the loop's.
 */
static struct flow_block_evidence evidence_of(const struct stay *stay, double gaps, double samples,
					      double variance,
					      const struct procedure_profile *profile)
{
	double rest = 0;

	if (stay->calls)
		rest = fmax(profile->all - stay->samples, 0);
	return (struct flow_block_evidence){
		.samples = stay->samples + rest / 2,
		.cycles = samples / gaps * profile->period_cycles,
		.evenness = 1 / (VARIANCE + variance +
				 rest * rest / (12 * stay->samples * stay->samples)),
	};
}

static bool flow_gaps_take_block(struct flow_evidence *evidence, const struct loops *loops,
				 uint32_t b, const struct flow_fit *fit,
				 const struct procedure_profile *profile)
{
	const struct cfg_block *block = &loops->cfg->blocks[b];
	uint32_t branch = block->first + block->count - 1;
	double gaps = profile->gaps[branch], samples = profile->gap_samples[branch];
	struct stay stay;

	if (gaps <= 0 || samples <= 0 ||
	    !find_stay(&stay, loops, loops->nest.of_block[b], fit, profile))
		return false;
	evidence->blocks[b] =
		evidence_of(&stay, gaps, samples, profile->gap_variance[branch], profile);
	return true;
}

static int take_blocks(struct flow_evidence *evidence, const struct flow_fit *fit,
		       const struct flow_chain *chain, const struct frequency_input *input)
{
	const struct cfg *cfg = input->cfg;
	_cleanup_free_ bool *calls = calloc((size_t)cfg->block_count + 1, sizeof(*calls));
	struct loops loops = {.cfg = cfg, .chain = chain, .calls = calls};
	int taken = 0;

	if (calls == NULL || loop_nest_create(&loops.nest, cfg) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->call_count; i++)
		calls[cfg->block_of[cfg->calls[i].insn]] |= !cfg->calls[i].tail;
	for (uint32_t b = 0; b < cfg->block_count; b++)
		taken += flow_gaps_take_block(evidence, &loops, b, fit, input->profile);
	loop_nest_deinit(&loops.nest);
	return taken;
}

int flow_gaps_take(struct flow_evidence *evidence, const struct flow_fit *fit,
		   const struct flow_chain *chain, const struct frequency_input *input)
{
	/* Nearly all procedures have no gaps. */
	if (input->profile->gaps == NULL)
		return 0;
	return take_blocks(evidence, fit, chain, input);
}
