// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/culprit/culprit.h"

#include "analysis/culprit/culprit_data.h"
#include "analysis/culprit/culprit_evidence.h"
#include "lib/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/*
 * Stalls above this part of M are significant even if the frequency is uncertain. Out of order, M
 * is the best case of blocks, and most blocks take longer.
 */
#define UNCERTAIN_SHARE 0.15
#define UNCERTAIN_SHARE_OUT_OF_ORDER 1.0
/* A block that takes up to this part longer than its best case does not stall, out of order. */
#define BLOCK_TOLERANCE 0.25
/* Causes must account for this part of a stall, even if a higher frequency would make it shorter.
 */
#define CERTAIN_PART 0.5
/* Random directions cost at least this part of the cost of a misprediction in the models. */
#define PREDICTED_PART 0.6

/*
 * Return the frequency for the significance of stalls and gains: the end of the interval that makes
 * them smaller. Intervals are often wide only because a whole block stalls. So for stalls, the
 * frequency is raised by no more than the uncertainty of M (@uncertainty, relative).
 */
static double significance_frequency(const struct frequency_estimate *frequency, double uncertainty,
				     bool stalled)
{
	if (!stalled)
		return fmin(frequency->low, frequency->value);
	return fmin(fmax(frequency->high, frequency->value), (1 + uncertainty) * frequency->value);
}

static void measure_insn(struct instruction_cpi *ret, const struct schedule_insn *schedule,
			 double samples, const struct frequency_estimate *frequency,
			 double uncertainty)
{
	double stalls = 0, expected, noise;

	for (unsigned int i = 0; i < schedule->stall_count; i++)
		stalls += schedule->stalls[i].cycles;
	ret->static_cycles = fmin(stalls, schedule->min_cycles);
	ret->execution = schedule->min_cycles - ret->static_cycles;
	if (!(frequency->value > 0)) {
		ret->cpi = ret->low = ret->high = NAN;
		return;
	}
	ret->cpi = samples / frequency->value;
	ret->low = samples / fmax(frequency->high, frequency->value);
	ret->high =
		frequency->low > 0 ? samples / fmin(frequency->low, frequency->value) : INFINITY;
	if (samples == 0)
		ret->high = 0;
	ret->dynamic_cycles = ret->cpi - schedule->min_cycles;
	expected = schedule->min_cycles *
		   significance_frequency(frequency, uncertainty, ret->dynamic_cycles > 0);
	noise = CULPRIT_NOISE_SIGMAS * sqrt(expected + 1);
	ret->significant =
		ret->dynamic_cycles > 0 ? samples > expected + noise : samples < expected - noise;
}

/*
 * Out of order, instructions retire in groups, so that the time of a block falls on some of its
 * instructions only. If the whole block takes about its best case, even at the lowest possible
 * frequency, none of them stalls.
 */
static void check_block(struct culprits *culprits, const struct culprit_input *input,
			uint32_t index)
{
	const struct frequency_estimate *estimate = &input->frequency->blocks[index];
	const struct cfg_block *block = &input->cfg->blocks[index];
	double samples = 0, cycles = 0, expected;

	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		samples += input->profile->samples[i];
		cycles += input->schedule->insns[i].min_cycles;
	}
	expected = (1 + BLOCK_TOLERANCE) * cycles * fmin(estimate->low, estimate->value);
	if (samples > expected + CULPRIT_NOISE_SIGMAS * sqrt(expected + 1))
		return;
	for (uint32_t i = block->first; i < block->first + block->count; i++)
		culprits->insns[i].significant = false;
}

static void measure_insns(struct culprits *culprits, const struct culprit_input *input)
{
	const struct cfg *cfg = input->cfg;
	double uncertainty =
		input->model->in_order ? UNCERTAIN_SHARE : UNCERTAIN_SHARE_OUT_OF_ORDER;

	if (input->thorough)
		uncertainty = INFINITY;

	for (uint32_t i = 0; i < cfg->insn_count; i++)
		measure_insn(&culprits->insns[i], &input->schedule->insns[i],
			     input->profile->samples[i],
			     &input->frequency->blocks[cfg->block_of[i]], uncertainty);
	if (!input->model->in_order && !input->thorough)
		for (uint32_t b = 0; b < cfg->block_count; b++)
			check_block(culprits, input, b);
}

static int compare_culprits(const void *a, const void *b)
{
	const struct culprit *x = a, *y = b;

	if (x->cycles_high != y->cycles_high)
		return x->cycles_high > y->cycles_high ? -1 : 1;
	return (x->cause > y->cause) - (x->cause < y->cause);
}

/* struct listing - state of the explanation of stalls; @evidence: collected when needed */
struct listing {
	struct culprits *culprits;
	size_t capacity;
	struct culprit_evidence evidence;
};

/* @least: length of the stall at the highest possible frequency */
static void find_suspects(struct listing *listing, struct culprit_suspects *suspects,
			  const struct culprit_stall *stall, double least)
{
	culprit_suspects_find(suspects, stall);
	if (stall->input->thorough)
		return;
	culprit_suspects_keep_certain(suspects);
	if (culprit_suspects_are_many(suspects))
		culprit_evidence_weigh(&listing->evidence, suspects, stall);
	culprit_suspects_drop_unlikely(suspects, fmax(least, CERTAIN_PART * stall->cycles));
}

/*
 * @certain: length of the stall at the highest possible frequency
 * @rest:    of this, what other causes cannot account for
 */
static double cycles_low(const struct culprit_stall *stall, const struct culprit_bound *bound,
			 double certain, double rest)
{
	double low = stall->input->model->in_order ? rest : bound->certain * certain;

	return fmin(fmax(low, 0), bound->high);
}

static int culprit_explain(struct listing *listing, const struct culprit_stall *stall)
{
	struct culprits *culprits = listing->culprits;
	struct instruction_cpi *insn = &culprits->insns[stall->insn];
	struct culprit_suspects suspects;
	double certain = stall->cycles;

	if (array_reserve(&culprits->list, &listing->capacity, culprits->count + CULPRIT_CAUSES,
			  sizeof(*culprits->list)) != 0)
		return -ENOMEM;
	/* The remainder of the stall at the highest possible frequency. */
	if (!stall->input->thorough)
		certain = insn->low - stall->input->schedule->insns[stall->insn].min_cycles;
	find_suspects(listing, &suspects, stall,
		      stall->input->model->in_order ? stall->cycles : certain);
	insn->first = (uint32_t)culprits->count;
	for (unsigned int c = 0; c < CULPRIT_CAUSES; c++) {
		const struct culprit_bound *bound = &suspects.bounds[c];
		double rest = certain - (suspects.high - bound->high);

		if (suspects.listed[c])
			culprits->list[culprits->count++] = (struct culprit){
				.cause = c,
				.cycles_low = cycles_low(stall, bound, certain, rest),
				.cycles_high = bound->high,
				.from = bound->from,
			};
	}
	insn->count = (uint32_t)culprits->count - insn->first;
	qsort(culprits->list + insn->first, insn->count, sizeof(*culprits->list), compare_culprits);
	return 0;
}

/* Return by how much the executions of the block with most samples may exceed their estimate. */
static double executions_factor(const struct culprit_input *input)
{
	const struct frequency_estimate *estimate;
	uint32_t hottest = 0;

	for (uint32_t i = 1; i < input->cfg->insn_count; i++)
		if (input->profile->samples[i] > input->profile->samples[hottest])
			hottest = i;
	estimate = &input->frequency->blocks[input->cfg->block_of[hottest]];
	return estimate->value > 0 ? fmax(estimate->high / estimate->value, 1) : 1;
}

static int explain_all(struct culprits *culprits, const struct culprit_input *input)
{
	struct listing listing = {.culprits = culprits};
	const struct culprit_working_set working_set = culprit_working_set_find(input);
	double branches = PREDICTED_PART * culprit_branch_cost(input);
	struct culprit_regions regions = {0};
	int r = culprit_regions_find(&regions, input);

	culprits->patterned = branches * executions_factor(input) > input->profile->total;
	for (uint32_t i = 0; r == 0 && i < input->cfg->insn_count; i++) {
		const struct instruction_cpi *insn = &culprits->insns[i];
		uint32_t block = input->cfg->block_of[i];
		struct culprit_stall stall = {
			.input = input,
			.insns = culprits->insns,
			.regions = &regions,
			.working_set = &working_set,
			.predicted = branches > input->profile->total,
			.insn = i,
			.block = block,
			.cycles = insn->dynamic_cycles,
			.frequency = input->frequency->blocks[block].value,
		};

		if (insn->significant && insn->dynamic_cycles > 0)
			r = culprit_explain(&listing, &stall);
	}
	culprit_regions_deinit(&regions);
	return r;
}

int culprits_find(struct culprits *ret, const struct culprit_input *input)
{
	struct culprits culprits = {0};
	int r;

	culprits.insns = calloc((size_t)input->cfg->insn_count + 1, sizeof(*culprits.insns));
	if (culprits.insns == NULL)
		return -ENOMEM;
	measure_insns(&culprits, input);
	r = explain_all(&culprits, input);
	if (r != 0)
		culprits_deinit(&culprits);
	else
		*ret = culprits;
	return r;
}

void culprits_deinit(struct culprits *culprits)
{
	free(culprits->insns);
	free(culprits->list);
	*culprits = (struct culprits){0};
}

double culprits_unexplained(const struct culprits *culprits, uint32_t insn)
{
	const struct instruction_cpi *stalled = &culprits->insns[insn];
	double left = stalled->dynamic_cycles;

	if (!stalled->significant || !(left > 0))
		return 0;
	for (uint32_t i = 0; i < stalled->count; i++)
		left -= culprits->list[stalled->first + i].cycles_high;
	return fmax(left, 0);
}
