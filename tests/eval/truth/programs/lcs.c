// SPDX-License-Identifier: GPL-2.0-only
/* Longest common subsequence and edit distance, by dynamic programming. */
#include "tests/eval/truth/programs/program.h"

#define N 900

static char a[N], b[N];
static uint16_t table[N + 1][N + 1];
static int rows[2][N + 1];

__attribute__((noipa)) static int common(void)
{
	for (int i = 1; i <= N; i++) {
		for (int j = 1; j <= N; j++) {
			if (a[i - 1] == b[j - 1])
				table[i][j] = (uint16_t)(table[i - 1][j - 1] + 1);
			else
				table[i][j] = table[i - 1][j] > table[i][j - 1] ? table[i - 1][j]
										: table[i][j - 1];
		}
	}
	return table[N][N];
}

static int smallest(int x, int y, int z)
{
	int least = x < y ? x : y;

	return least < z ? least : z;
}

__attribute__((noipa)) static int edits(void)
{
	for (int j = 0; j <= N; j++)
		rows[0][j] = j;
	for (int i = 1; i <= N; i++) {
		int *row = rows[i & 1];
		const int *above = rows[~i & 1];

		row[0] = i;
		for (int j = 1; j <= N; j++)
			row[j] = smallest(above[j] + 1, row[j - 1] + 1,
					  above[j - 1] + (a[i - 1] != b[j - 1]));
	}
	return rows[N & 1][N];
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 3);
	uint64_t seed = 59, sum = 0;

	while (rounds-- > 0) {
		for (int i = 0; i < N; i++) {
			a[i] = "acgt"[program_random(&seed) % 4];
			b[i] = "acgt"[program_random(&seed) % 4];
		}
		sum = sum * 31 + (uint64_t)common();
		sum = sum * 31 + (uint64_t)edits();
	}
	return program_end(sum);
}
