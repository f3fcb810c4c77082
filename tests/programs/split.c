// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose division of time is known: three procedures with the same
 * loop, which take 70, 20 and 10 percent of its iterations. They alternate at
 * a fine grain, so that whatever else the machine does hits all alike, and in
 * rounds of changing length, so that they never fall into step with a sampler.
 *
 *	split [ROUNDS]		100,000 iterations each, on average
 */
#include <stdint.h>
#include <stdlib.h>

#define ITERATIONS_MIN 200
#define ITERATIONS_SPAN 600

/* The step depends on its own result: time goes with iterations, nothing else. */
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
	return x == 0; /* never, but the compiler cannot know */
}
