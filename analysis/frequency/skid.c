// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/skid.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

/* An instruction that takes less may, on some edges into its block, issue with the previous one. */
#define ALONE 0.95
/* Limit on the samples of one place, because further ones are not independent. */
#define VOTES_MAX 32
/*
 * In simulations with 10^4 samples or more, at least 0.62 of the votes are late if samples are
 * late. Otherwise at most 0.38 are; without a preference, 0.5.
 */
#define LATE_SHARE 0.55
#define LATE_DEVIATIONS 1.5

#define ROUNDS 30
/* Weight of observed edge probabilities relative to estimated ones. */
#define LEARNED 0.9
/* An instruction is sure if at least this part of the samples after it are its own. */
#define SURE_SHARE 0.8
/* Least weight of an edge, even if it is estimated to be never taken. */
#define WEIGHT_LEAST 1e-3

void skid_votes_add(struct skid_votes *votes, const struct cfg *cfg,
		    const struct schedule *schedule, const double *samples)
{
	const struct schedule_insn *insns = schedule->insns;

	for (uint32_t i = 1; i + 1 < cfg->insn_count; i++) {
		double sum = samples[i] + samples[i + 1], votes_here;

		if (cfg->block_of[i - 1] != cfg->block_of[i + 1] || insns[i].min_cycles > 0 ||
		    insns[i - 1].min_cycles < ALONE || insns[i + 1].min_cycles < ALONE || sum == 0)
			continue;
		votes_here = sum < VOTES_MAX ? sum : VOTES_MAX;
		votes->late += votes_here * samples[i] / sum;
		votes->punctual += votes_here * samples[i + 1] / sum;
	}
}

bool skid_is_late(const struct skid_votes *votes)
{
	double sum = votes->late + votes->punctual;

	return votes->late > LATE_SHARE * sum + LATE_DEVIATIONS * sqrt(sum);
}

/*
 * struct mixture - samples of the last instructions of blocks
 * @chance: probability of each edge when control leaves its source; @thought: the initial estimate
 * @seen:   samples of the first instruction of each block
 * @last:   result: samples of the last instruction of each block
 * @ratio:  observed samples of each block, relative to @made, followed by that of the outside, to
 *          which control leaves and from which it comes back
 * @made:   samples of each block's first instruction according to @last, then those of the outside
 */
struct mixture {
	const struct cfg *cfg;
	double *chance;
	double *thought;
	double *seen;
	double *last;
	double *ratio;
	double *made;
};

/* Map entry, exit and unknown to a single node after all blocks, the outside. */
static uint32_t skid_place_of(const struct cfg *cfg, uint32_t node)
{
	return node < cfg->block_count ? node : cfg->block_count;
}

/* Return true unless the edge leads from the outside to itself, which has no samples. */
static bool is_way(const struct cfg *cfg, uint32_t edge)
{
	return cfg->edges[edge].from < cfg->block_count || cfg->edges[edge].to < cfg->block_count;
}

/* --- without an estimate ------------------------------------------ */

/*
 * Estimate a block's frequency from all its instructions except the last, or, if it has only one,
 * from the samples of its successors.
 */
static double rough_frequency(const struct mixture *mixture, const struct schedule *schedule,
			      const double *taken, uint32_t b)
{
	const struct cfg_block *block = &mixture->cfg->blocks[b];
	double samples = 0, cycles = 0, behind = 0;

	for (uint32_t i = block->first; i + 1 < block->first + block->count; i++) {
		samples += taken[i + 1];
		cycles += schedule->insns[i].min_cycles;
	}
	if (cycles > 0)
		return samples / cycles;
	for (uint32_t e = block->out; e < block->out + block->out_count; e++)
		if (mixture->cfg->edges[e].to < mixture->cfg->block_count)
			behind += mixture->seen[mixture->cfg->edges[e].to];
	return block->out_count > 0 ? behind / 2 / block->out_count : 0;
}

/* Store the weight of each edge in chance, and the sums of weights into each node in made. */
static void rough_weights(struct mixture *mixture, const struct schedule *schedule,
			  const double *taken)
{
	const struct cfg *cfg = mixture->cfg;
	uint32_t outside = cfg->block_count;
	double leaves = 0, entries = 0;

	for (uint32_t b = 0; b < outside; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		double frequency = rough_frequency(mixture, schedule, taken, b);

		for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
			mixture->chance[e] = frequency / block->out_count + WEIGHT_LEAST;
			if (cfg->edges[e].to >= outside)
				leaves += mixture->chance[e];
		}
	}
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		entries += cfg->edges[e].from >= outside && is_way(cfg, e);
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		if (cfg->edges[e].from >= outside && is_way(cfg, e) && leaves > 0)
			mixture->chance[e] = leaves / entries;
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		if (is_way(cfg, e))
			mixture->made[skid_place_of(cfg, cfg->edges[e].to)] += mixture->chance[e];
}

/* Divide the samples of a block's first instruction among all predecessors, by weight. */
static void rough_split(struct mixture *mixture, const struct schedule *schedule,
			const double *taken)
{
	const struct cfg *cfg = mixture->cfg;
	uint32_t outside = cfg->block_count;
	double came_back = 0;

	rough_weights(mixture, schedule, taken);
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		uint32_t from = cfg->edges[e].from, to = cfg->edges[e].to;
		double part;

		if (to >= outside || mixture->made[to] <= 0)
			continue;
		part = mixture->seen[to] * mixture->chance[e] / mixture->made[to];
		if (from < outside)
			mixture->last[from] += part;
		else
			came_back += part;
	}
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		if (cfg->edges[e].to >= outside && is_way(cfg, e))
			mixture->last[cfg->edges[e].from] +=
				came_back * mixture->chance[e] / mixture->made[outside];
}

/* --- with an estimate ------------------------------------------ */

static void chances_find(struct mixture *mixture, const double *weights)
{
	const struct cfg *cfg = mixture->cfg;
	double *sum = mixture->made, *least = mixture->ratio;

	for (uint32_t e = 0; e < cfg->edge_count; e++)
		if (is_way(cfg, e))
			sum[skid_place_of(cfg, cfg->edges[e].from)] += weights[e];
	for (uint32_t b = 0; b <= cfg->block_count; b++)
		least[b] = sum[b] > 0 ? WEIGHT_LEAST * sum[b] : 1;
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		if (is_way(cfg, e))
			sum[skid_place_of(cfg, cfg->edges[e].from)] +=
				least[skid_place_of(cfg, cfg->edges[e].from)];
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		uint32_t from = skid_place_of(cfg, cfg->edges[e].from);

		if (is_way(cfg, e))
			mixture->chance[e] = (weights[e] + least[from]) / sum[from];
	}
}

/* Initialise with the samples that last instructions would have without stalls. */
static void last_guess(struct mixture *mixture, const struct schedule *schedule,
		       const double *weights)
{
	const struct cfg *cfg = mixture->cfg;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		double cycles = schedule->insns[block->first + block->count - 1].min_cycles;

		for (uint32_t e = block->out; e < block->out + block->out_count; e++)
			mixture->last[b] += weights[e] * (cycles + WEIGHT_LEAST);
		mixture->last[b] += WEIGHT_LEAST;
	}
}

/*
 * Compute the samples that result from @last: of blocks, then of control that comes back from
 * outside.
 */
static void made_find(struct mixture *mixture)
{
	const struct cfg *cfg = mixture->cfg;
	uint32_t outside = cfg->block_count;

	memset(mixture->made, 0, ((size_t)outside + 1) * sizeof(*mixture->made));
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		if (cfg->edges[e].from < outside)
			mixture->made[skid_place_of(cfg, cfg->edges[e].to)] +=
				mixture->last[cfg->edges[e].from] * mixture->chance[e];
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		if (cfg->edges[e].from >= outside && cfg->edges[e].to < outside)
			mixture->made[cfg->edges[e].to] +=
				mixture->made[outside] * mixture->chance[e];
}

static void ratios_find(struct mixture *mixture)
{
	const struct cfg *cfg = mixture->cfg;
	uint32_t outside = cfg->block_count;

	for (uint32_t b = 0; b < outside; b++)
		mixture->ratio[b] = mixture->made[b] > 0 ? mixture->seen[b] / mixture->made[b] : 0;
	mixture->ratio[outside] = 0;
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		if (cfg->edges[e].from >= outside && cfg->edges[e].to < outside)
			mixture->ratio[outside] +=
				mixture->ratio[cfg->edges[e].to] * mixture->chance[e];
}

/*
 * Update edge probabilities from the observed samples, with a small weight of the initial estimate.
 */
static void learn_chances(struct mixture *mixture, const struct cfg_block *block, double change)
{
	const struct cfg *cfg = mixture->cfg;

	for (uint32_t e = block->out; e < block->out + block->out_count && change > 0; e++) {
		double ratio = mixture->ratio[skid_place_of(cfg, cfg->edges[e].to)];

		mixture->chance[e] = LEARNED * mixture->chance[e] * ratio / change +
				     (1 - LEARNED) * mixture->thought[e];
	}
}

static void round_make(struct mixture *mixture)
{
	const struct cfg *cfg = mixture->cfg;

	made_find(mixture);
	ratios_find(mixture);
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		double change = 0;

		for (uint32_t e = block->out; e < block->out + block->out_count; e++)
			change += mixture->ratio[skid_place_of(cfg, cfg->edges[e].to)] *
				  mixture->chance[e];
		mixture->last[b] *= change;
		learn_chances(mixture, block, change);
	}
}

static void maximise(struct mixture *mixture, const struct schedule *schedule,
		     const double *weights)
{
	chances_find(mixture, weights);
	last_guess(mixture, schedule, weights);
	memcpy(mixture->thought, mixture->chance, mixture->cfg->edge_count * sizeof(double));
	for (int i = 0; i < ROUNDS; i++)
		round_make(mixture);
}

/* --- all steps ------------------------------------------------------------ */

/* Return: the memory that contains all arrays, or NULL. */
static double *mixture_allocate(struct mixture *mixture, const struct cfg *cfg)
{
	size_t places = (size_t)cfg->block_count + 1;
	double *memory = calloc(4 * places + 2 * (size_t)cfg->edge_count, sizeof(*memory));

	if (memory == NULL)
		return NULL;
	*mixture = (struct mixture){
		.cfg = cfg,
		.seen = memory,
		.last = memory + places,
		.ratio = memory + 2 * places,
		.made = memory + 3 * places,
		.chance = memory + 4 * places,
		.thought = memory + 4 * places + cfg->edge_count,
	};
	return memory;
}

/* Samples of blocks without a known predecessor stay. */
static void keep_rest(struct mixture *mixture)
{
	for (uint32_t b = 0; b < mixture->cfg->block_count; b++)
		if (mixture->made[b] <= 0)
			mixture->last[b] += mixture->seen[b];
}

/* Return the block's own part of the samples of its successors. */
static double own_share(const struct mixture *mixture, uint32_t b)
{
	const struct cfg *cfg = mixture->cfg;
	const struct cfg_block *block = &cfg->blocks[b];
	double all = 0;

	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		if (cfg->edges[e].to >= cfg->block_count)
			return 0;
		all += mixture->seen[cfg->edges[e].to];
	}
	return all > 0 ? mixture->last[b] / all : 1;
}

int skid_take_back(double *ret, bool *unsure, const struct cfg *cfg,
		   const struct schedule *schedule, const double *taken, const double *weights)
{
	struct mixture mixture;
	_cleanup_free_ double *memory = mixture_allocate(&mixture, cfg);

	if (memory == NULL)
		return -ENOMEM;
	for (uint32_t b = 0; b < cfg->block_count; b++)
		mixture.seen[b] = taken[cfg->blocks[b].first];
	if (weights == NULL)
		rough_split(&mixture, schedule, taken);
	else
		maximise(&mixture, schedule, weights);
	keep_rest(&mixture);
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		uint32_t last = block->first + block->count - 1;

		for (uint32_t i = block->first; i < last; i++) {
			ret[i] = taken[i + 1];
			unsure[i] = insn_is_call(&cfg->insns[i]);
		}
		ret[last] = mixture.last[b];
		unsure[last] = own_share(&mixture, b) < SURE_SHARE;
	}
	return 0;
}
