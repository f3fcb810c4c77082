// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a loop with branches of random direction N times, ten million iterations each:
 *
 * branch_loop N
 *
 * Prints "times CPU_US WALL_US": the CPU time of the process, and elapsed time.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/clock.h"

#define ITERATIONS 10000000

static uint64_t state = 1;

static __attribute__((noinline)) uint64_t loop_run(void)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < ITERATIONS; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		if ((state & 7) == 0)
			sum += state;
		else
			sum ^= i;
	}
	return sum;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	uint64_t begin_ns = clock_monotonic_ns();
	volatile uint64_t sum = 0;

	for (int i = 0; i < times; i++)
		sum += loop_run();
	printf("times %llu %llu\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000,
	       (unsigned long long)(clock_monotonic_ns() - begin_ns) / 1000);
	return 0;
}
