// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory walker: a chain of dependent loads in pseudo-random order through more memory than caches
 * hold, as in McCalpin's benchmarks and database workloads.
 *
 *	walk STEPS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS (1U << 21) /* 16 MiB */

int main(int argc, char **argv)
{
	unsigned long steps = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	uint64_t *next = malloc(CELLS * sizeof(*next));
	uint64_t at = 0;
	uint32_t i;

	if (!next)
		return 1;
	/* A full-period generator visits every cell once. */
	for (i = 0; i < CELLS; i++)
		next[i] = (i * 1664525U + 1013904223U) % CELLS;
	while (steps-- > 0)
		at = next[at];
	printf("%llu\n", (unsigned long long)at);
	free(next);
	return 0;
}
