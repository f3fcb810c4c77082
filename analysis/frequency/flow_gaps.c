// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/flow_gaps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/graph/strong_components.h"
#include "lib/cleanup.h"

/* Nearly all: the rest is so small a part of it at most. */
#define REST_MAX 0.15
/* A window of probes is hardly ever longer; and so long as a rule. */
#define STAY_NS 12e6
#define WINDOW_NS 15e6
/* Relative variance: of what is known by many windows, and more for few of them. */
#define VARIANCE 0.0025
#define WINDOW_VARIANCE 0.01

/*
 * The blocks of a loop around one, from the outermost to the innermost.
 * @targets: of edges; UINT32_MAX: not in the loop, or back to where it is entered
 * @inside:  blocks of the loop
 */
struct loops {
	const struct cfg *cfg;
	const struct flow_chain *chain;
	uint32_t *first;
	uint32_t *targets;
	uint32_t *component;
	bool *inside;
	bool *calls;
};

/* struct stay - in a loop; @entries: executions, as estimates of blocks have it */
struct stay {
	double samples;
	double entries;
	bool calls;
};

static void loops_begin(struct loops *loops)
{
	const struct cfg *cfg = loops->cfg;

	for (uint32_t b = 0; b < cfg->block_count; b++)
		loops->inside[b] = true;
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		loops->targets[e] =
			cfg->edges[e].to < cfg->block_count ? cfg->edges[e].to : UINT32_MAX;
}

static bool is_inside(const struct loops *loops, uint32_t node)
{
	return node < loops->cfg->block_count && loops->inside[node];
}

/* Control comes in at some blocks: ways back there, from inside, make the loop. */
static void forget_ways_back(struct loops *loops)
{
	const struct cfg *cfg = loops->cfg;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		bool entered = false;

		for (uint32_t i = 0; i < block->in_count && loops->inside[b]; i++)
			entered |= !is_inside(loops, cfg->edges[cfg->in_edges[block->in + i]].from);
		for (uint32_t i = 0; i < block->in_count && entered; i++)
			loops->targets[cfg->in_edges[block->in + i]] = UINT32_MAX;
	}
}

/* The next loop further in. Return: 1; 0: there is none; -ENOMEM. */
static int loops_next(struct loops *loops, uint32_t block)
{
	const struct cfg *cfg = loops->cfg;
	const struct strong_graph graph = {loops->first, loops->targets, cfg->block_count};
	uint32_t count, size = 0;
	bool again = false;
	int r = strong_components_find(loops->component, &count, &graph);

	if (r < 0)
		return r;
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		loops->inside[b] = loops->component[b] == loops->component[block];
		size += loops->inside[b];
	}
	for (uint32_t e = loops->first[block]; e < loops->first[block + 1]; e++)
		again |= loops->targets[e] == block;
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		if (!is_inside(loops, cfg->edges[e].from))
			loops->targets[e] = UINT32_MAX;
	}
	return size > 1 || again;
}

static struct stay stay_in(const struct loops *loops, const struct flow_fit *fit,
			   const struct procedure_profile *profile)
{
	const struct cfg *cfg = loops->cfg;
	struct stay stay = {.samples = 0};

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];

		if (!loops->inside[b])
			continue;
		stay.calls |= loops->calls[b];
		for (uint32_t i = block->first; i < block->first + block->count; i++)
			stay.samples += profile->samples[i];
		for (uint32_t i = 0; i < block->in_count; i++) {
			uint32_t e = cfg->in_edges[block->in + i];

			if (!is_inside(loops, cfg->edges[e].from))
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

/* Return: 1: @ret is what windows of this block's branch are within; 0: nothing is; -ENOMEM. */
static int find_stay(struct stay *ret, struct loops *loops, uint32_t block,
		     const struct flow_fit *fit, const struct procedure_profile *profile)
{
	bool found = false, more = true;
	int r = 0;

	loops_begin(loops);
	while (more && (r = loops_next(loops, block)) > 0) {
		struct stay stay = stay_in(loops, fit, profile);
		bool all = is_nearly_all(&stay, profile);
		bool lasts = stay.samples * profile->clock_ns >= STAY_NS * stay.entries;

		more = all || lasts;
		if (all || (lasts && !stay.calls)) {
			*ret = stay;
			found = true;
		}
		forget_ways_back(loops);
	}
	return r < 0 ? r : found;
}

/*
 * The loop's time, and that of all else if it is little: half of what may be the loop's, of
 * which anything is as likely.
 */
static struct flow_block_evidence evidence_of(const struct stay *stay, double gaps, double samples,
					      const struct procedure_profile *profile)
{
	double rest = 0, windows = samples * profile->clock_ns / WINDOW_NS;

	if (stay->calls)
		rest = fmax(profile->all - stay->samples, 0);
	return (struct flow_block_evidence){
		.samples = stay->samples + rest / 2,
		.cycles = samples / gaps * profile->period_cycles,
		.evenness = 1 / (VARIANCE + WINDOW_VARIANCE / windows +
				 rest * rest / (12 * stay->samples * stay->samples)),
	};
}

static int take_block(struct flow_evidence *evidence, struct loops *loops, uint32_t b,
		      const struct flow_fit *fit, const struct procedure_profile *profile)
{
	const struct cfg_block *block = &loops->cfg->blocks[b];
	uint32_t branch = block->first + block->count - 1;
	double gaps = profile->gaps[branch], samples = profile->gap_samples[branch];
	struct stay stay = {.samples = 0};
	int r;

	if (gaps <= 0 || samples <= 0)
		return 0;
	r = find_stay(&stay, loops, b, fit, profile);
	if (r > 0)
		evidence->blocks[b] = evidence_of(&stay, gaps, samples, profile);
	return r;
}

static int take_blocks(struct flow_evidence *evidence, const struct flow_fit *fit,
		       const struct flow_chain *chain, const struct frequency_input *input)
{
	const struct cfg *cfg = input->cfg;
	size_t blocks = (size_t)cfg->block_count + 1;
	_cleanup_free_ uint32_t *first = calloc(blocks, sizeof(*first));
	_cleanup_free_ uint32_t *targets = calloc((size_t)cfg->edge_count + 1, sizeof(*targets));
	_cleanup_free_ uint32_t *component = calloc(blocks, sizeof(*component));
	_cleanup_free_ bool *inside = calloc(blocks, sizeof(*inside));
	_cleanup_free_ bool *calls = calloc(blocks, sizeof(*calls));
	struct loops loops = {cfg, chain, first, targets, component, inside, calls};
	int taken = 0, r = 0;

	if (first == NULL || targets == NULL || component == NULL || inside == NULL ||
	    calls == NULL)
		return -ENOMEM;
	for (uint32_t b = 0; b < cfg->block_count; b++)
		first[b + 1] = cfg->blocks[b].out_count > 0
				       ? cfg->blocks[b].out + cfg->blocks[b].out_count
				       : first[b];
	for (uint32_t i = 0; i < cfg->call_count; i++)
		calls[cfg->block_of[cfg->calls[i].insn]] |= !cfg->calls[i].tail;
	for (uint32_t b = 0; b < cfg->block_count && r >= 0; b++) {
		r = take_block(evidence, &loops, b, fit, input->profile);
		taken += r > 0;
	}
	return r < 0 ? r : taken;
}

int flow_gaps_take(struct flow_evidence *evidence, const struct flow_fit *fit,
		   const struct flow_chain *chain, const struct frequency_input *input)
{
	/* As of nearly all procedures. */
	if (input->profile->gaps == NULL)
		return 0;
	return take_blocks(evidence, fit, chain, input);
}
