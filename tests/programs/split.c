// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with a known distribution of time: three procedures with the same
 * loop, which take 70, 20 and 10 percent of its iterations. They alternate at a
 * fine grain, so that any other load of the machine affects all equally. Their
 * rounds have varying lengths, so that they are never in phase with a sampler.
 *
 *	split [ROUNDS]		100,000 iterations each, on average
 */
#include <stdint.h>
#include <stdlib.h>

#define ITERATIONS_MIN 200
#define ITERATIONS_SPAN 600

/* Each step depends on its own result, so that time is proportional to iterations. */
#define PROCEDURE(name)                                                                            \
	__attribute__((noinline, noclone, aligned(64))) uint64_t name(uint64_t x, unsigned int n); \
	uint64_t name(uint64_t x, unsigned int n)                                                  \
	{                                                                                          \
		for (; n > 0; n--)                                                                 \
			x = (x ^ x >> 7) * 0x9e3779b97f4a7c15ULL;                                  \
		return x;                                                                          \
	}

PROCEDURE(split_seventy)
PROCEDURE(split_twenty)
PROCEDURE(split_ten)

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 2000;
	unsigned int n;
	uint64_t x = 1;

	for (rounds *= 20; rounds > 0; rounds--) {
		n = ITERATIONS_MIN + (unsigned int)(x >> 32) % ITERATIONS_SPAN;
		x = split_seventy(x, 7 * n);
		x = split_twenty(x, 2 * n);
		x = split_ten(x, n);
	}
	return x == 0; /* never true, but the compiler does not know */
}
