// SPDX-License-Identifier: GPL-2.0-only
/* All placements of queens on a board, with bit masks and with arrays. */
#include "tests/eval/truth/programs/program.h"

static uint64_t by_bits(uint32_t all, uint32_t columns, uint32_t left, uint32_t right)
{
	uint32_t free = all & ~(columns | left | right);
	uint64_t found = 0;

	if (columns == all)
		return 1;
	while (free) {
		uint32_t place = free & -free;

		free ^= place;
		found += by_bits(all, columns | place, (left | place) << 1, (right | place) >> 1);
	}
	return found;
}

static int rows[16], sums[32], differences[32];

static uint64_t by_arrays(int n, int column)
{
	uint64_t found = 0;

	if (column == n)
		return 1;
	for (int row = 0; row < n; row++) {
		if (rows[row] || sums[row + column] || differences[row - column + n])
			continue;
		rows[row] = sums[row + column] = differences[row - column + n] = 1;
		found += by_arrays(n, column + 1);
		rows[row] = sums[row + column] = differences[row - column + n] = 0;
	}
	return found;
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 1);
	uint64_t sum = 0;

	while (rounds-- > 0) {
		sum = sum * 31 + by_bits((1U << 12) - 1, 0, 0, 0);
		sum = sum * 31 + by_arrays(11, 0);
	}
	return program_end(sum);
}
