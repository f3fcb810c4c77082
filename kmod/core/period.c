// SPDX-License-Identifier: GPL-2.0-only
#include "period.h"

#define PERIOD_MODULUS 0x7fffffffU

/*
 * Neighbouring seeds must not produce neighbouring sequences: multiply by an odd constant and fold
 * (the finalizer of MurmurHash3), then map the result into the generator's range of states.
 */
void period_init(struct period *period, u32 seed, u64 min, u64 max)
{
	u32 x = seed;

	x ^= x >> 16;
	x *= 0x85ebca6bU;
	x ^= x >> 13;
	x *= 0xc2b2ae35U;
	x ^= x >> 16;
	period->state = x % (PERIOD_MODULUS - 1) + 1;
	period->min = min;
	period->span = max - min + 1;
}
