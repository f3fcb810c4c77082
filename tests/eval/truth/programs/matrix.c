// SPDX-License-Identifier: GPL-2.0-only
/* Product of dense matrices, plain and tiled. */
#include "tests/eval/truth/programs/program.h"

#define N 96
#define TILE 16

static double a[N][N], b[N][N], c[N][N];

__attribute__((noipa)) static void multiply_plain(void)
{
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < N; j++) {
			double sum = 0;

			for (int k = 0; k < N; k++)
				sum += a[i][k] * b[k][j];
			c[i][j] = sum;
		}
	}
}

__attribute__((noipa)) static void tile(int i0, int j0, int k0)
{
	for (int i = i0; i < i0 + TILE; i++) {
		for (int k = k0; k < k0 + TILE; k++) {
			double x = a[i][k];

			for (int j = j0; j < j0 + TILE; j++)
				c[i][j] += x * b[k][j];
		}
	}
}

__attribute__((noipa)) static void multiply_tiled(void)
{
	for (int i = 0; i < N; i += TILE)
		for (int j = 0; j < N; j += TILE)
			for (int k = 0; k < N; k += TILE)
				tile(i, j, k);
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 4);
	uint64_t seed = 1, sum = 0;

	for (int i = 0; i < N; i++) {
		for (int j = 0; j < N; j++) {
			a[i][j] = (int)(program_random(&seed) & 255) - 128;
			b[i][j] = (int)(program_random(&seed) & 255) - 128;
		}
	}
	while (rounds-- > 0) {
		multiply_plain();
		multiply_tiled();
	}
	for (int i = 0; i < N; i++)
		sum = sum * 31 + (uint64_t)(int64_t)c[i][(i * 7) % N];
	return program_end(sum);
}
