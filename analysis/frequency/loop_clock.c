// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/loop_clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/frequency/procedure_profile.h"
#include "analysis/graph/induction.h"
#include "analysis/graph/loop_nest.h"
#include "analysis/insn/insn_effect.h"
#include "db/profile.h"
#include "lib/cleanup.h"

/* A clock needs this part of the pairs near the median rate. */
#define NEAR_PART 0.6
#define NEAR_RATIO 1.6
/*
 * Rates of loops that wait for memory vary more. If nearly all samples have a pair, the loop is not
 * entered again between them, as short loops are, and this part of the pairs suffices.
 */
#define WIDE_PART 0.8
#define WIDE_RATIO 8.0
/*
 * Rates of threads that wait for one another differ even more: a thread may wait for several
 * sampling periods. If nearly no pair has another sign, pairs without any iteration are right, and
 * the rates need not be alike.
 */
#define ANY_PART 0.95
/*
 * Pairs further from the median are left out. Timers are late and samples get lost, and then pairs
 * span more or less than a sampling period. A loop may also be much slower or faster for a while,
 * for example if other programs use the cache. Without pairs of this range, the mean would be
 * wrong.
 *
 * Fast pairs, beyond FAST_RATIO, weigh most in the mean. They are wrong if the loop was entered
 * again between the samples, with a pointer to other data. About half of such changes have the
 * wrong sign, and are no pairs. So fast pairs are right if nearly all samples have a pair.
 */
#define FAST_RATIO 4.0
#define FASTEST_RATIO 64.0
#define SLOW_RATIO 64.0
#define PAIRED_MIN 0.75
/* A sample is anywhere in an iteration, and so induction variables may differ by one step. */
#define STEP_ERROR 2.0
#define AGREE_PART 0.01
/*
 * Minimum number of changes from which the step of a variable is found. With this number of tries,
 * one of the divisors is almost certainly the step, if it is one.
 */
#define UNIT_CHANGES_MIN 16
#define UNIT_TRIES (UNIT_CHANGES_MIN - 2)
#define UNIT_PART 0.9
/* Fewer iterations in a pair: the loop is entered again all the time. */
#define ITERATIONS_MIN 2.0
/* The relative variance of a clock with many pairs. */
#define VARIANCE_MIN 0.0004
/*
 * The same for words of memory. They are read some time after a sample, and that time depends on
 * the load of the machine. With twelve runnable threads a CPU, clocks of words were up to 10% too
 * slow.
 */
#define WORDS_VARIANCE 0.0036
/*
 * Relative deviation of the iterations of samples without a pair from those of the others: a part
 * of the unpaired share, and of its third power. A few samples lack a pair by chance. If most do,
 * the loop mostly has short activations, in which it may be much faster or slower.
 */
#define UNPAIRED_DEVIATION 0.2
#define UNPAIRED_MOST 0.8

double loop_clock_samples(const struct cfg *cfg, const struct loop_nest *nest, uint32_t loop,
			  const struct procedure_profile *profile)
{
	/* Pairs are known by the instructions that samples originally fell on. */
	const double *taken = profile->taken != NULL ? profile->taken : profile->samples;
	double samples = 0;

	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		if (taken[i] > 0 && loop_nest_contains(nest, cfg, loop, cfg->block_of[i]))
			samples += taken[i];
	}
	return samples;
}

/*
 * struct reading - of a pair
 * @iterations: in @samples samples of the loop
 * @rate:       per sampling period
 * @weight:     samples that the pair stands for
 */
struct reading {
	double iterations;
	double samples;
	double rate;
	double weight;
};

/*
 * struct pair_set - pairs in a loop, of registers, or of words of memory
 * @units: of each variable with an unknown constant: the constant, or 0
 */
struct pair_set {
	const struct induction_map *map;
	const struct cfg *cfg;
	const struct loop_nest *nest;
	uint32_t loop;
	const struct procedure_profile *profile;
	bool words;
	uint64_t units[INDUCTION_VARIABLES];
};

static bool pair_is_in(const struct pair_set *set, const struct profile_pair *pair)
{
	const uint32_t *block_of = set->cfg->block_of;

	return pair->words == set->words &&
	       loop_nest_contains(set->nest, set->cfg, set->loop, block_of[pair->insns[0]]) &&
	       loop_nest_contains(set->nest, set->cfg, set->loop, block_of[pair->insns[1]]);
}

/* Return: the variable that a register depends on at both samples; its step is 0 if there is none.
 */
static struct induction common_variable(const struct induction *from, const struct induction *to)
{
	struct induction induction = *from;

	if (to->variable != from->variable)
		induction.step = 0;
	if (to->bytes < from->bytes)
		induction.bytes = to->bytes;
	return induction;
}

/* Return: the variable that a word of the frame belongs to. */
static struct induction word_variable(const struct pair_set *set, unsigned int number)
{
	const struct insn_decoder *decoder = set->cfg->decoder;

	if (number < PROFILE_WORD_FRAME)
		return induction_map_word(set->map, decoder->stack_pointer,
					  (int64_t)(number - PROFILE_WORD_STACK) *
							  PROFILE_WORD_BYTES -
						  PROFILE_WORD_STACK_BELOW);
	return induction_map_word(set->map, decoder->frame_pointer,
				  (int64_t)(number - PROFILE_WORD_FRAME) * PROFILE_WORD_BYTES -
					  PROFILE_WORD_FRAME_BELOW);
}

/* Return: the variable that a change of a pair is one of; its step is 0 if there is none. */
static struct induction change_variable(const struct pair_set *set,
					const struct register_change *change,
					const struct induction from[INDUCTION_REGISTERS],
					const struct induction to[INDUCTION_REGISTERS])
{
	return change->reg < INDUCTION_REGISTERS
		       ? common_variable(&from[change->reg], &to[change->reg])
		       : word_variable(set, change->reg);
}

/*
 * Convert a change to iterations.
 *
 * Return: 1; 0: it depends on no induction variable; -1: the variable cannot change so.
 */
static int change_read(double *iterations, const struct pair_set *set,
		       const struct register_change *change, const struct induction *induction)
{
	uint64_t unit = 1;
	int64_t delta;

	if (induction->step == 0)
		return 0;
	delta = insn_low(change->delta, induction->bytes, true);
	if (induction->multiple)
		unit = set->units[induction->variable];
	if (unit == 0)
		return 0;
	if (delta % (int64_t)unit != 0)
		return -1;
	*iterations = (double)(delta / (int64_t)unit) / (double)induction->step;
	return 1;
}

/*
 * @count: out: iterations
 *
 * Return: 1; 0: no register depends on an induction variable at both samples; -1: two induction
 * variables contradict each other.
 */
static int pair_read(double *count, const struct profile_pair *pair, const struct pair_set *set)
{
	struct induction from[INDUCTION_REGISTERS], to[INDUCTION_REGISTERS];
	double low = INFINITY, high = -INFINITY;

	induction_map_at(from, set->map, pair->insns[0]);
	induction_map_at(to, set->map, pair->insns[1]);
	for (size_t i = 0; i < pair->change_count; i++) {
		const struct register_change *change = &pair->changes[i];
		struct induction induction = change_variable(set, change, from, to);
		double iterations;
		int r = change_read(&iterations, set, change, &induction);

		if (r < 0)
			return r;
		if (r == 0)
			continue;
		low = fmin(low, iterations);
		high = fmax(high, iterations);
	}
	if (low > high)
		return 0;
	if (low < 0 || high - low > STEP_ERROR + AGREE_PART * high)
		return -1;
	*count = (low + high) / 2;
	return 1;
}

/* --- unknown steps ---------------------------------------------------------- */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * Find the greatest number that nearly all changes are multiples of. The common divisor of three
 * changes is mostly that of all. A few changes may be none of the variable.
 *
 * Return: 0 if there are too few changes.
 */
static uint64_t unit_of(const uint64_t *changes, size_t count)
{
	uint64_t unit = 0;

	for (size_t i = 0; count >= UNIT_CHANGES_MIN && i < UNIT_TRIES; i++) {
		uint64_t divisor =
			common_divisor(common_divisor(changes[i], changes[i + 1]), changes[i + 2]);
		size_t multiples = 0;

		for (size_t j = 0; divisor > unit && j < count; j++)
			multiples += changes[j] % divisor == 0;
		if ((double)multiples >= UNIT_PART * (double)count)
			unit = divisor;
	}
	return unit;
}

/* @changes: room for one of each pair */
static void unit_find(struct pair_set *set, uint8_t variable, uint64_t *changes)
{
	const struct procedure_profile *profile = set->profile;
	struct induction from[INDUCTION_REGISTERS], to[INDUCTION_REGISTERS];
	size_t count = 0;

	for (size_t i = 0; i < profile->pair_count; i++) {
		const struct profile_pair *pair = &profile->pairs[i];

		if (!pair_is_in(set, pair))
			continue;
		induction_map_at(from, set->map, pair->insns[0]);
		induction_map_at(to, set->map, pair->insns[1]);
		for (size_t j = 0; j < pair->change_count; j++) {
			struct induction at = change_variable(set, &pair->changes[j], from, to);
			int64_t delta;

			if (at.step == 0 || at.variable != variable)
				continue;
			delta = insn_low(pair->changes[j].delta, at.bytes, true);
			if (delta == 0)
				continue;
			changes[count++] = delta < 0 ? 0 - (uint64_t)delta : (uint64_t)delta;
			break;
		}
	}
	set->units[variable] = unit_of(changes, count);
}

static int units_find(struct pair_set *set)
{
	_cleanup_free_ uint64_t *changes = NULL;

	memset(set->units, 0, sizeof(set->units));
	for (uint8_t variable = 0; variable < INDUCTION_VARIABLES; variable++) {
		if (!induction_map_is_multiple(set->map, variable))
			continue;
		if (changes == NULL)
			changes = calloc(set->profile->pair_count + 1, sizeof(*changes));
		if (changes == NULL)
			return -ENOMEM;
		unit_find(set, variable, changes);
	}
	return 0;
}

static int by_rate(const void *a, const void *b)
{
	const struct reading *x = a, *y = b;

	return (x->rate > y->rate) - (x->rate < y->rate);
}

static bool is_near(double rate, double median, double slow, double fast)
{
	return rate < median * fast && median < rate * slow;
}

/*
 * The variance of the mean over all samples of a loop. There are three parts: one that no number of
 * pairs reduces; that of a random selection, without replacement, of the samples' pairs; and that
 * of the random number of samples without a pair.
 *
 * @spread: relative variance of the iterations in a pair
 * @pairs, @weight: pairs that were read, and all pairs that they were selected from
 */
static double variance_of(double spread, double pairs, double weight, double samples)
{
	double paired = fmin(fmax(weight, pairs), samples), rest = fmax(samples - paired, 1);
	double unpaired;

	if (samples <= 0)
		return VARIANCE_MIN + spread / pairs;
	unpaired = (samples - paired) / samples;
	return VARIANCE_MIN + spread / pairs * (1 - fmin(pairs / samples, 1)) +
	       (1 + spread) * rest / (samples * samples) +
	       pow(UNPAIRED_DEVIATION * unpaired + UNPAIRED_MOST * pow(unpaired, 3), 2);
}

/*
 * struct limits - of the rates of readings that count, relative to the median
 * @any: slower ones count as well, and those without any iteration
 */
struct limits {
	double median;
	double fast;
	bool any;
};

static bool is_used(const struct reading *reading, const struct limits *limits)
{
	return reading->rate < limits->median * limits->fast &&
	       (limits->any || limits->median < reading->rate * SLOW_RATIO);
}

/* Add up the readings within limits. Return: samples that these stand for. */
static double readings_sum(struct loop_clock *ret, const struct reading *readings, size_t count,
			   const struct limits *limits)
{
	double weight = 0;

	ret->pairs = ret->outliers = 0;
	ret->iterations = ret->samples = 0;
	for (size_t i = 0; i < count; i++) {
		if (!is_used(&readings[i], limits)) {
			ret->outliers++;
			continue;
		}
		ret->pairs++;
		ret->iterations += readings[i].iterations;
		ret->samples += readings[i].samples;
		weight += readings[i].weight;
	}
	return weight;
}

/* Return: the relative variance of the iterations in a sample, around the mean. */
static double readings_spread(const struct loop_clock *clock, const struct reading *readings,
			      size_t count, const struct limits *limits)
{
	double mean = clock->iterations / clock->samples, squares = 0;

	for (size_t i = 0; i < count; i++) {
		double off = readings[i].iterations - mean * readings[i].samples;

		if (is_used(&readings[i], limits))
			squares += off * off;
	}
	return squares / (mean * mean * clock->samples);
}

/*
 * Add up all readings if fast ones are right, else the others.
 * @limits:  out: of the readings that were added up
 * @doubt:   out: relative variance, because fast readings may be right or wrong
 *
 * Return: samples that the readings stand for.
 */
static double readings_choose(struct loop_clock *ret, struct limits *limits, double *doubt,
			      const struct reading *readings, size_t count, double samples)
{
	struct loop_clock all = *ret;
	double weight, all_weight, ratio;

	limits->fast = FASTEST_RATIO;
	all_weight = readings_sum(&all, readings, count, limits);
	limits->fast = FAST_RATIO;
	weight = readings_sum(ret, readings, count, limits);
	ratio = log(all.iterations / all.samples) - log(ret->iterations / ret->samples);
	*doubt = ratio * ratio / 12;
	if (samples <= 0 || all_weight < PAIRED_MIN * samples)
		return weight;
	*ret = all;
	limits->fast = FASTEST_RATIO;
	return all_weight;
}

/* Return: true if this part of the pairs is near the median rate. */
static bool is_steady(const struct loop_clock *clock, const struct reading *readings, size_t count,
		      const struct limits *limits, double ratio, double part)
{
	size_t near = 0;

	for (size_t i = 0; i < count; i++)
		near += is_near(readings[i].rate, limits->median, ratio, ratio);
	return (double)near >= part * (double)(count + clock->disagreed);
}

/* @readings: sorted. Return: the median rate of the readings with iterations; 0: too few */
static double median_of(const struct reading *readings, size_t count)
{
	size_t zeros = 0;

	while (zeros < count && readings[zeros].rate <= 0)
		zeros++;
	return count - zeros < LOOP_CLOCK_PAIRS_MIN ? 0
						    : readings[zeros + (count - zeros) / 2].rate;
}

/* Return: true if nearly all pairs were used, and none of another sign. */
static bool is_single(const struct loop_clock *clock, size_t count)
{
	return (double)clock->pairs >= ANY_PART * (double)(count + clock->disagreed);
}

/* @samples: of the loop. Return: whether the readings are a clock. */
static bool readings_settle(struct loop_clock *ret, struct reading *readings, size_t count,
			    double samples)
{
	struct limits limits;
	double weight, doubt;

	if (count < LOOP_CLOCK_PAIRS_MIN)
		return false;
	qsort(readings, count, sizeof(*readings), by_rate);
	limits.median = median_of(readings, count);
	if (limits.median == 0)
		return false;
	limits.any = (double)ret->disagreed <= (1 - ANY_PART) * (double)count;
	weight = readings_choose(ret, &limits, &doubt, readings, count, samples);
	ret->variance = doubt + variance_of(readings_spread(ret, readings, count, &limits),
					    ret->samples, weight, samples);
	if (ret->iterations < ITERATIONS_MIN * ret->pairs || ret->silent > count)
		return false;
	return is_steady(ret, readings, count, &limits, NEAR_RATIO, NEAR_PART) ||
	       (samples > 0 && weight >= PAIRED_MIN * samples &&
		(is_steady(ret, readings, count, &limits, WIDE_RATIO, WIDE_PART) ||
		 (limits.any && is_single(ret, count))));
}

static int pairs_read(struct loop_clock *ret, struct pair_set *set)
{
	const struct procedure_profile *profile = set->profile;
	_cleanup_free_ struct reading *readings = calloc(profile->pair_count, sizeof(*readings));
	size_t count = 0;

	if (readings == NULL || units_find(set) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < profile->pair_count; i++) {
		const struct profile_pair *pair = &profile->pairs[i];
		double iterations, samples = set->words ? pair->samples : 1;
		int r;

		if (!pair_is_in(set, pair))
			continue;
		r = pair_read(&iterations, pair, set);
		if (r < 0)
			ret->disagreed++;
		else if (r == 0)
			ret->silent++;
		else
			readings[count++] =
				(struct reading){iterations, samples, iterations / pair->samples,
						 pair->weight * samples};
	}
	return readings_settle(ret, readings, count,
			       loop_clock_samples(set->cfg, set->nest, set->loop, profile));
}

/* Registers first, because they are known at each sample. */
static int sets_read(struct loop_clock *ret, struct pair_set *set)
{
	struct loop_clock by_words = {.block = ret->block, .all = ret->all, .words = true};
	int r = pairs_read(ret, set);

	if (r != 0)
		return r;
	set->words = true;
	r = pairs_read(&by_words, set);
	by_words.variance += WORDS_VARIANCE;
	if (r > 0)
		*ret = by_words;
	return r;
}

/* Takes the map. */
static int map_read(struct loop_clock *ret, struct induction_map *map, const struct cfg *cfg,
		    const struct loop_nest *nest, uint32_t loop,
		    const struct procedure_profile *profile)
{
	struct pair_set set = {map, cfg, nest, loop, profile, false, {0}};
	int r;

	ret->block = induction_map_block(map);
	ret->all = loop_clock_samples(cfg, nest, loop, profile);
	r = sets_read(ret, &set);
	induction_map_destroy(map);
	return r;
}

int loop_clock_read(struct loop_clock *ret, const struct cfg *cfg, const struct loop_nest *nest,
		    uint32_t loop, const struct procedure_profile *profile)
{
	struct induction_map *map = NULL;
	int r = 0;

	*ret = (struct loop_clock){.block = LOOP_NEST_NONE};
	if (profile->pair_count >= LOOP_CLOCK_PAIRS_MIN)
		r = induction_map_create(&map, cfg, nest, loop);
	if (r < 0 || map == NULL)
		return r;
	return map_read(ret, map, cfg, nest, loop, profile);
}

int loop_counter_read(struct loop_clock *ret, const struct cfg *cfg, const struct loop_nest *nest,
		      uint32_t loop, uint8_t reg, const struct procedure_profile *profile)
{
	struct induction_map *map = NULL;
	int r = 0;

	*ret = (struct loop_clock){.block = LOOP_NEST_NONE};
	if (profile->pair_count >= LOOP_CLOCK_PAIRS_MIN)
		r = induction_map_create_counter(&map, cfg, nest, loop, reg);
	if (r < 0 || map == NULL)
		return r;
	return map_read(ret, map, cfg, nest, loop, profile);
}
