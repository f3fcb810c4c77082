// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/flow_trips.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/graph/induction.h"
#include "analysis/graph/loop_nest.h"
#include "analysis/graph/register_state.h"
#include "db/profile.h"
#include "lib/cleanup.h"

/* Fewer samples measure nothing. */
#define SAMPLES_MIN 8.0
/* Deviations of the density that are taken for random, in standard deviations. */
#define DEVIATIONS 1.65
/*
 * Variance of the logarithm of a probability that was measured with many samples. Time is not
 * spread evenly over iterations: the last one often takes a misprediction longer, which is the time
 * of SHORT_ITERATIONS others.
 */
#define VARIANCE_MIN 0.0009
#define SHORT_ITERATIONS 4.0

/* The greatest number of remaining executions of a class, not rounded. */
static double class_end(unsigned int class)
{
	return exp2((class + 1.0) / PROFILE_REMAINING_PER_OCTAVE);
}

/* Whole numbers in [2, @end). */
static double width_below(double end)
{
	return ceil(end - 1e-9) - 2;
}

static double counts_sum(const double *counts, unsigned int end)
{
	double sum = 0;

	for (unsigned int class = 0; class < end; class ++)
		sum += counts[class];
	return sum;
}

/*
 * Return: true if a part of the range at its upper end has its share of the samples. It has more if
 * the loop is mostly left by another exit, soon after it is entered.
 */
static bool is_even(const double *counts, unsigned int end, unsigned int classes)
{
	unsigned int begin = end > classes ? end - classes : 0;
	double all = counts_sum(counts, end), upper = all - counts_sum(counts, begin);
	double width = width_below(class_end(end - 1));
	double share = begin > 0 ? 1 - width_below(class_end(begin - 1)) / width : 1;

	return fabs(upper - share * all) <= DEVIATIONS * sqrt(all * share * (1 - share));
}

/*
 * struct measured - samples of a loop
 * @known:   with a known number of remaining executions
 * @single:  those of them with one execution left, or an estimate of these
 * @unknown: with an unknown number
 */
struct measured {
	double known;
	double single;
	double unknown;
};

/*
 * Set the probability. Its logarithm is taken to be evenly distributed between the results with and
 * without the unknown samples.
 */
static void loop_exit_set(struct loop_exit *ret, const struct measured *measured)
{
	double range = log(1 + measured->unknown / measured->known);
	double most = 1 - 1 / (measured->known + 2);

	ret->probability = fmin(fmax(measured->single / measured->known * exp(-range / 2),
				     2 * FLOW_PROBABILITY_MIN),
				most);
	ret->samples = measured->known;
	ret->variance =
		VARIANCE_MIN + range * range / 12 + pow(ret->probability * SHORT_ITERATIONS, 2);
}

/* Samples with one execution left that are in no class are among the unknown ones. */
static struct measured measured_of(double below, double width, double all, double one,
				   double unknown)
{
	struct measured measured = {
		.known = all + one, .single = (below + one) / (width + 1), .unknown = unknown};

	if (one > 0)
		return measured;
	measured.single = below / width;
	measured.known = all + measured.single;
	measured.unknown = fmax(0, unknown - measured.single);
	return measured;
}

/* @counts: from 2 executions on; @one: samples with one execution left */
static bool classes_measure(struct loop_exit *ret, const double *counts, double one, double unknown)
{
	double all = counts_sum(counts, PROFILE_REMAINING_CLASSES), below, width;

	for (unsigned int end = PROFILE_REMAINING_CLASSES; end > PROFILE_REMAINING_PER_OCTAVE + 1;
	     end--) {
		struct measured measured;

		below = counts_sum(counts, end);
		width = width_below(class_end(end - 1));
		if (below < SAMPLES_MIN || counts[end - 1] <= 0)
			continue;
		if (!is_even(counts, end, PROFILE_REMAINING_PER_OCTAVE) || !is_even(counts, end, 1))
			continue;
		measured = measured_of(below, width, all, one, unknown);
		loop_exit_set(ret, &measured);
		ret->variance += 2 / (below + one);
		return true;
	}
	return false;
}

bool loop_exit_measure(struct loop_exit *ret, const double counts[PROFILE_REMAINING_CLASSES],
		       double unknown)
{
	double classes[PROFILE_REMAINING_CLASSES], one = counts[PROFILE_REMAINING_ONE];
	struct measured measured;

	memcpy(classes, counts, sizeof(classes));
	classes[PROFILE_REMAINING_ONE] = 0;
	if (classes_measure(ret, classes, one, unknown))
		return true;
	if (one < SAMPLES_MIN)
		return false;
	/* Few executions, or nearly always one. */
	measured = (struct measured){
		.known = counts_sum(classes, PROFILE_REMAINING_CLASSES) + one,
		.single = one,
		.unknown = unknown,
	};
	loop_exit_set(ret, &measured);
	ret->variance += 2 / one;
	return true;
}

/* Find the two edges of a branch if one of them leaves the innermost loop around it. */
static bool exit_find(struct loop_exit *ret, const struct cfg *cfg, const struct loop_nest *nest,
		      uint32_t b)
{
	const struct cfg_block *block = &cfg->blocks[b];
	uint32_t loop = nest->of_block[b];
	bool stays[2];

	if (block->out_count != 2 || loop == LOOP_NEST_NONE)
		return false;
	for (uint32_t i = 0; i < 2; i++)
		stays[i] = loop_nest_contains(nest, cfg, loop, cfg->edges[block->out + i].to);
	if (stays[0] == stays[1])
		return false;
	ret->stay = block->out + stays[1];
	ret->leave = block->out + stays[0];
	return true;
}

/* --- is the remaining number a count of executions? ---------------------------- */

/* enum operand - an operand of a comparison, from one iteration to the next */
enum operand {
	OPERAND_VARIES,
	OPERAND_FIXED,
	OPERAND_INDUCTION,
};

/* struct comparison - that of a loop's branch; @at: the comparing instruction */
struct comparison {
	const struct cfg *cfg;
	const struct loop_nest *nest;
	uint32_t loop;
	uint32_t at;
	struct induction_map *map;
};

static bool loop_has(const struct comparison *comparison, uint32_t insn)
{
	const struct cfg *cfg = comparison->cfg;

	return loop_nest_contains(comparison->nest, cfg, comparison->loop, cfg->block_of[insn]);
}

static bool loop_writes(const struct comparison *comparison, uint8_t reg)
{
	for (uint32_t i = 0; i < comparison->cfg->insn_count; i++) {
		if (insn_regs_has(&comparison->cfg->insns[i].writes, reg) &&
		    loop_has(comparison, i))
			return true;
	}
	return false;
}

/* Stores to other addresses are taken not to change the word, as in induction.h. */
static bool loop_stores(const struct comparison *comparison, const struct insn_memory *word)
{
	for (uint32_t i = 0; i < comparison->cfg->insn_count; i++) {
		const struct insn *insn = &comparison->cfg->insns[i];

		if ((insn->flags & INSN_WRITES_MEMORY) != 0 && insn->memory.base == word->base &&
		    insn->memory.index == word->index &&
		    insn->memory.displacement == word->displacement && loop_has(comparison, i))
			return true;
	}
	return false;
}

static enum operand word_operand(const struct comparison *comparison,
				 const struct insn_memory *word)
{
	if (word->index != INSN_REG_NONE)
		return OPERAND_VARIES;
	if (induction_map_word(comparison->map, word->base, word->displacement).step != 0)
		return OPERAND_INDUCTION;
	if (word->base != INSN_REG_NONE && loop_writes(comparison, word->base))
		return OPERAND_VARIES;
	return loop_stores(comparison, word) ? OPERAND_VARIES : OPERAND_FIXED;
}

/* A register may be loaded from a fixed word just before. */
static enum operand register_operand(const struct comparison *comparison, uint8_t reg)
{
	const struct cfg *cfg = comparison->cfg;
	struct induction registers[INDUCTION_REGISTERS];
	uint32_t first = cfg->blocks[cfg->block_of[comparison->at]].first;

	induction_map_at(registers, comparison->map, comparison->at);
	if (reg < INDUCTION_REGISTERS && registers[reg].step != 0)
		return OPERAND_INDUCTION;
	if (!loop_writes(comparison, reg))
		return OPERAND_FIXED;
	for (uint32_t i = comparison->at; i-- > first;) {
		const struct insn *insn = &cfg->insns[i];

		if (!insn_regs_has(&insn->writes, reg))
			continue;
		return insn_effect_get(cfg->decoder, insn).kind == INSN_EFFECT_LOAD
			       ? word_operand(comparison, &insn->memory)
			       : OPERAND_VARIES;
	}
	return OPERAND_VARIES;
}

/* Return: true if no operand varies, and one of them is an induction variable. */
static bool operands_count(const struct comparison *comparison)
{
	const struct insn *insn = &comparison->cfg->insns[comparison->at];
	bool reads_memory = (insn->flags & INSN_READS_MEMORY) != 0;
	enum operand operand =
		reads_memory ? word_operand(comparison, &insn->memory) : OPERAND_FIXED;
	bool varies = operand == OPERAND_VARIES, counts = operand == OPERAND_INDUCTION;

	for (size_t i = 0; i < INSN_SOURCES; i++) {
		if (insn->sources[i] == INSN_REG_NONE)
			continue;
		operand = register_operand(comparison, insn->sources[i]);
		varies |= operand == OPERAND_VARIES;
		counts |= operand == OPERAND_INDUCTION;
	}
	return counts && !varies;
}

/*
 * Return: 1 if the difference that a branch tests changes by a constant in each iteration; 0: it
 * may change otherwise, as when an index is doubled; -ENOMEM.
 */
static int counts_down(const struct cfg *cfg, const struct loop_nest *nest, uint32_t b)
{
	struct comparison comparison = {.cfg = cfg, .nest = nest, .loop = nest->of_block[b]};
	int r;

	if (!register_state_find_comparison(&comparison.at, cfg, &cfg->blocks[b]))
		return 0;
	r = induction_map_create(&comparison.map, cfg, nest, comparison.loop);
	if (r < 0 || comparison.map == NULL)
		return r;
	r = operands_count(&comparison);
	induction_map_destroy(comparison.map);
	return r;
}

/* --- evidence ------------------------------------------------------------------- */

static void exit_take(struct flow_evidence *evidence, const struct loop_exit *exit)
{
	double seen_leave = evidence->seen[exit->leave], seen_stay = evidence->seen[exit->stay];
	double known = 1 / exit->variance;

	if (seen_leave > 0 && seen_stay > 0 && 1 / (1 / seen_leave + 1 / seen_stay) > known)
		return;
	evidence->seen[exit->leave] = known / (1 - exit->probability);
	evidence->seen[exit->stay] = known / exit->probability;
}

/* @unknown: out: of each loop, samples with an unknown number of remaining executions */
static void unknown_find(double *unknown, const struct loop_nest *nest,
			 const struct frequency_input *input)
{
	const struct procedure_profile *profile = input->profile;

	for (size_t i = 0; i < profile->remaining_count; i++) {
		const struct profile_remaining *remaining = &profile->remaining[i];
		uint32_t loop = nest->of_block[input->cfg->block_of[remaining->insn]];

		if (remaining->class == PROFILE_REMAINING_UNKNOWN && loop != LOOP_NEST_NONE)
			unknown[loop] += remaining->count;
	}
}

/* Take one branch's remaining executions. @counts: samples by class. Return: 0 or -ENOMEM. */
static int branch_take(struct flow_evidence *evidence, const struct loop_nest *nest,
		       const struct cfg *cfg, uint32_t b, const double *counts,
		       const double *unknown)
{
	struct loop_exit exit;
	int r;

	if (flow_evidence_knows(evidence, b) || !exit_find(&exit, cfg, nest, b) ||
	    !loop_exit_measure(&exit, counts, unknown[nest->of_block[b]]))
		return 0;
	r = counts_down(cfg, nest, b);
	if (r > 0)
		exit_take(evidence, &exit);
	return r < 0 ? r : 0;
}

static int exits_take(struct flow_evidence *evidence, const struct loop_nest *nest,
		      const struct frequency_input *input)
{
	const struct procedure_profile *profile = input->profile;
	_cleanup_free_ double *unknown = calloc((size_t)nest->count + 1, sizeof(*unknown));
	double counts[PROFILE_REMAINING_CLASSES];
	int r = 0;

	if (unknown == NULL)
		return -ENOMEM;
	unknown_find(unknown, nest, input);
	for (size_t first = 0, end; first < profile->remaining_count && r == 0; first = end) {
		uint32_t insn = profile->remaining[first].insn, b = input->cfg->block_of[insn];

		memset(counts, 0, sizeof(counts));
		for (end = first;
		     end < profile->remaining_count && profile->remaining[end].insn == insn; end++)
			counts[profile->remaining[end].class] += profile->remaining[end].count;
		counts[PROFILE_REMAINING_UNKNOWN] = 0;
		r = branch_take(evidence, nest, input->cfg, b, counts, unknown);
	}
	return r;
}

int flow_trips_take(struct flow_evidence *evidence, const struct frequency_input *input)
{
	struct loop_nest nest;
	int r;

	if (input->profile->remaining_count == 0)
		return 0;
	if (loop_nest_create(&nest, input->cfg) < 0)
		return -ENOMEM;
	r = exits_take(evidence, &nest, input);
	loop_nest_deinit(&nest);
	return r;
}
