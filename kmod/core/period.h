/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random sampling periods.
 *
 * Every sample gets a new random period, so that sampling never falls into step with the sampled
 * code (DCPI section 4.1.1). The generator is Carta's
 * form of the minimal standard one, x' = 16807 x mod 2^31 - 1 (CACM 33(1),
 * 1990): two multiplications, no division, 31 bits of state.
 */
#ifndef DCPI_PERIOD_H
#define DCPI_PERIOD_H

#include "core_env.h"

/**
 * struct period - generator of one event's periods on one CPU
 * @state: 1 .. 2^31 - 2
 * @min:   shortest period, in the event's unit
 * @span:  number of different periods
 */
struct period {
	u32 state;
	u64 min;
	u64 span;
};

/**
 * period_init() - set up a generator
 * @seed: any value; different CPUs and events should get different ones
 * @min:  shortest period, >= 1
 * @max:  longest period, @min <= @max <= 2^40
 */
void period_init(struct period *period, u32 seed, u64 min, u64 max);

/** period_random() - the next raw value of Carta's sequence, in [1, 2^31 - 2]. */
static inline u32 period_random(u32 *state)
{
	u64 product = (u64)*state * 16807;
	u32 x = (u32)(product & 0x7fffffff) + (u32)(product >> 31);

	if (x >> 31)
		x = (x & 0x7fffffff) + 1;
	*state = x;
	return x;
}

/**
 * period_next() - the next sampling period
 *
 * Return: a value in [min, max]. Uniform to within span / 2^31; windows of
 * more than 2^20 periods are resolved in 2^31 steps.
 */
static inline u64 period_next(struct period *period)
{
	u64 r = period_random(&period->state) - 1;

	if (core_likely(period->span >> 31 == 0))
		return period->min + (r * period->span >> 31);
	return period->min + r * (period->span >> 31);
}

#endif
