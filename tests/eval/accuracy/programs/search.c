// SPDX-License-Identifier: GPL-2.0-only
/* Backtracking: queens, a sudoku; knapsack and longest common subsequence with tables. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int queens(int n, uint32_t columns, uint32_t left, uint32_t right)
{
	uint32_t all = (1U << n) - 1, free_columns = all & ~(columns | left | right);
	int found = columns == all;

	while (free_columns) {
		uint32_t bit = free_columns & -free_columns;

		free_columns ^= bit;
		found += queens(n, columns | bit, (left | bit) << 1, (right | bit) >> 1);
	}
	return found;
}

static int board[81];
static long tried;

static int fits(int at, int digit)
{
	int row = at / 9, column = at % 9, box = row / 3 * 27 + column / 3 * 3;

	for (int i = 0; i < 9; i++) {
		if (board[row * 9 + i] == digit || board[i * 9 + column] == digit ||
		    board[box + i / 3 * 9 + i % 3] == digit)
			return 0;
	}
	return 1;
}

static int sudoku(int at)
{
	while (at < 81 && board[at] != 0)
		at++;
	if (at == 81)
		return 1;
	for (int digit = 1; digit <= 9; digit++) {
		tried++;
		if (!fits(at, digit))
			continue;
		board[at] = digit;
		if (sudoku(at + 1))
			return 1;
		board[at] = 0;
	}
	return 0;
}

static void sudoku_start(void)
{
	static const char start[] = "53..7....6..195....98....6.8...6...34..8.3..17...2...6"
				    ".6....28....419..5....8..79";

	for (int i = 0; i < 81; i++)
		board[i] = start[i] == '.' ? 0 : start[i] - '0';
}

static int knapsack(uint32_t seed)
{
	static int best[2001];

	memset(best, 0, sizeof(best));
	for (int i = 0; i < 60; i++) {
		int weight, value;

		seed = seed * 1664525U + 1013904223U;
		weight = 1 + (int)(seed >> 24);
		value = 1 + (int)(seed >> 16 & 255);
		for (int w = 2000; w >= weight; w--) {
			int with = best[w - weight] + value;

			if (with > best[w])
				best[w] = with;
		}
	}
	return best[2000];
}

static int subsequence(uint32_t seed)
{
	static char a[400], b[400];
	static int length[401][401];

	for (int i = 0; i < 400; i++) {
		seed = seed * 1664525U + 1013904223U;
		a[i] = (char)('a' + (seed >> 28));
		b[i] = (char)('a' + (seed >> 20 & 15));
	}
	for (int i = 1; i <= 400; i++) {
		for (int j = 1; j <= 400; j++) {
			if (a[i - 1] == b[j - 1])
				length[i][j] = length[i - 1][j - 1] + 1;
			else if (length[i - 1][j] > length[i][j - 1])
				length[i][j] = length[i - 1][j];
			else
				length[i][j] = length[i][j - 1];
		}
	}
	return length[400][400];
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	long sum = 0;

	for (int r = 0; r < rounds; r++) {
		sum += queens(8, 0, 0, 0);
		sudoku_start();
		sum += sudoku(0) + tried;
		sum += knapsack((uint32_t)r) + subsequence((uint32_t)r);
	}
	printf("%ld\n", sum);
	return 0;
}
