// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/core_clock.h"

#include "lib/clock.h"

#define PIECES 8
#define ROUNDS 1024
#define ADDITIONS 32 /* per iteration */

/*
 * A chain of dependent additions: one cycle each. Both operands are registers, because some cores
 * add constants while renaming. The loop's own two instructions execute in parallel.
 */
#if defined(__x86_64__)
#define CHAIN_ADD "addq %[step], %[sum]\n\t"
#elif defined(__aarch64__)
#define CHAIN_ADD "add %[sum], %[sum], %[step]\n\t"
#endif

#ifdef CHAIN_ADD
static uint64_t piece_ns(void)
{
	uint64_t sum = 0, step = 1, start = clock_monotonic_ns();

	for (unsigned int i = 0; i < ROUNDS; i++)
		__asm__ volatile(".rept %c[additions]\n\t" CHAIN_ADD ".endr"
				 : [sum] "+r"(sum)
				 : [step] "r"(step), [additions] "i"(ADDITIONS)
				 : "cc");
	return clock_monotonic_ns() - start;
}

uint64_t core_clock_measure(void)
{
	uint64_t fastest = UINT64_MAX;

	for (unsigned int i = 0; i < PIECES; i++) {
		uint64_t time_ns = piece_ns();

		if (time_ns > 0 && time_ns < fastest)
			fastest = time_ns;
	}
	return (uint64_t)ROUNDS * ADDITIONS * (NS_PER_SECOND / 1000) / fastest;
}
#else
uint64_t core_clock_measure(void)
{
	return 0;
}
#endif

void core_clock_note(struct core_clock *clock, uint64_t khz)
{
	if (khz == 0)
		return;
	if (clock->min_khz == 0 || khz < clock->min_khz)
		clock->min_khz = khz;
	if (khz > clock->max_khz)
		clock->max_khz = khz;
}
