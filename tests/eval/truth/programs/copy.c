// SPDX-License-Identifier: GPL-2.0-only
/* The loop of the DCPI paper's Figure 2, unrolled as its compiler did. */
#include "tests/eval/truth/programs/program.h"

#define N 2000000

static uint64_t from[N], to[N];

__attribute__((noipa)) static void copy(uint64_t *c, const uint64_t *a, size_t n)
{
	size_t i;

	for (i = 0; i < n; i += 4) {
		uint64_t x = a[i], y = a[i + 1], z = a[i + 2], w = a[i + 3];

		c[i] = x;
		c[i + 1] = y;
		c[i + 2] = z;
		c[i + 3] = w;
	}
}

int main(int argc, char **argv)
{
	unsigned int round, rounds = program_rounds(argc, argv, 3);
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < N; i++)
		from[i] = i * i;
	for (round = 0; round < rounds; round++) {
		copy(to, from, N);
		from[round] += to[N - 1 - round];
	}
	for (i = 0; i < N; i += 1000)
		sum = sum * 31 + to[i];
	return program_end(sum);
}
