// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/loop_clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/frequency/procedure_profile.h"
#include "analysis/graph/induction.h"
#include "analysis/graph/loop_nest.h"
#include "analysis/insn/insn_effect.h"
#include "lib/cleanup.h"

/* A clock needs this number of pairs, and this part of them near the median rate. */
#define PAIRS_MIN 4
#define NEAR_PART 0.6
#define NEAR_RATIO 1.6
/*
 * Pairs further from the median are left out. Timers are late and samples get lost, and then pairs
 * span more or less than a sampling period. A loop may also be much slower for a while, for example
 * if its memory is cold. Without pairs of this range, the mean would be wrong.
 */
#define FAST_RATIO 4.0
#define SLOW_RATIO 64.0
/* A sample is anywhere in an iteration, and so induction variables may differ by one step. */
#define STEP_ERROR 2.0
#define AGREE_PART 0.01
/* Fewer iterations between two samples: the loop is entered again all the time. */
#define ITERATIONS_MIN 2.0
/* The relative variance of a clock with many pairs. */
#define VARIANCE_MIN 0.0004

/* struct reading - of a pair: iterations, and these for each sampling period */
struct reading {
	double iterations;
	double rate;
};

static bool pair_is_in(const struct profile_pair *pair, const struct cfg *cfg,
		       const struct loop_nest *nest, uint32_t loop)
{
	return loop_nest_contains(nest, cfg, loop, cfg->block_of[pair->insns[0]]) &&
	       loop_nest_contains(nest, cfg, loop, cfg->block_of[pair->insns[1]]);
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

/*
 * @count: out: iterations; 0: no register depends on an induction variable at both samples
 *
 * Return: false if two induction variables contradict each other.
 */
static bool pair_read(double *count, const struct profile_pair *pair,
		      const struct induction_map *map)
{
	struct induction from[INDUCTION_REGISTERS], to[INDUCTION_REGISTERS];
	double low = INFINITY, high = -INFINITY;

	*count = 0;
	induction_map_at(from, map, pair->insns[0]);
	induction_map_at(to, map, pair->insns[1]);
	for (size_t i = 0; i < pair->change_count; i++) {
		const struct register_change *change = &pair->changes[i];
		struct induction induction = common_variable(&from[change->reg], &to[change->reg]);
		double iterations;

		if (induction.step == 0)
			continue;
		iterations = (double)insn_low(change->delta, induction.bytes, true) /
			     (double)induction.step;
		low = fmin(low, iterations);
		high = fmax(high, iterations);
	}
	if (low > high)
		return true;
	if (low <= 0 || high - low > STEP_ERROR + AGREE_PART * high)
		return false;
	*count = (low + high) / 2;
	return true;
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

/* Adds up the readings near the median. Return: whether they are a clock. */
static bool readings_settle(struct loop_clock *ret, struct reading *readings, size_t count)
{
	double squares = 0, mean, median;
	size_t near = 0;

	if (count < PAIRS_MIN)
		return false;
	qsort(readings, count, sizeof(*readings), by_rate);
	median = readings[count / 2].rate;
	for (size_t i = 0; i < count; i++) {
		near += is_near(readings[i].rate, median, NEAR_RATIO, NEAR_RATIO);
		if (!is_near(readings[i].rate, median, SLOW_RATIO, FAST_RATIO)) {
			ret->outliers++;
			continue;
		}
		ret->pairs++;
		ret->iterations += readings[i].iterations;
		squares += readings[i].iterations * readings[i].iterations;
	}
	mean = ret->iterations / ret->pairs;
	ret->variance =
		VARIANCE_MIN + fmax(squares / ret->pairs / (mean * mean) - 1, 0) / ret->pairs;
	return (double)near >= NEAR_PART * (double)(count + ret->disagreed) &&
	       mean >= ITERATIONS_MIN;
}

static int pairs_read(struct loop_clock *ret, const struct induction_map *map,
		      const struct cfg *cfg, const struct loop_nest *nest, uint32_t loop,
		      const struct procedure_profile *profile)
{
	_cleanup_free_ struct reading *readings = calloc(profile->pair_count, sizeof(*readings));
	size_t count = 0;

	if (readings == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < profile->pair_count; i++) {
		const struct profile_pair *pair = &profile->pairs[i];
		double iterations;

		if (!pair_is_in(pair, cfg, nest, loop))
			continue;
		if (!pair_read(&iterations, pair, map))
			ret->disagreed++;
		else if (iterations > 0)
			readings[count++] =
				(struct reading){iterations, iterations / pair->samples};
	}
	return readings_settle(ret, readings, count);
}

int loop_clock_read(struct loop_clock *ret, const struct cfg *cfg, const struct loop_nest *nest,
		    uint32_t loop, const struct procedure_profile *profile)
{
	struct induction_map *map = NULL;
	int r = 0;

	*ret = (struct loop_clock){.pairs = 0};
	if (profile->pair_count >= PAIRS_MIN)
		r = induction_map_create(&map, cfg, nest, loop);
	if (r < 0 || map == NULL)
		return r;
	r = pairs_read(ret, map, cfg, nest, loop, profile);
	induction_map_destroy(map);
	return r;
}
