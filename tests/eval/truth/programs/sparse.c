// SPDX-License-Identifier: GPL-2.0-only
/* Sparse matrix times vector (compressed rows), and the power method. */
#include "tests/eval/truth/programs/program.h"

#define ROWS 8000
#define MOST 24

static uint32_t starts[ROWS + 1], columns[ROWS * MOST];
static double values[ROWS * MOST], x[ROWS], y[ROWS];

static void matrix_make(uint64_t seed)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ROWS; i++) {
		uint32_t count = 1 + program_random(&seed) % MOST;

		starts[i] = n;
		while (count-- > 0) {
			columns[n] = program_random(&seed) % ROWS;
			values[n++] = 1 + program_random(&seed) % 16;
		}
	}
	starts[ROWS] = n;
}

__attribute__((noipa)) static void multiply(void)
{
	for (uint32_t i = 0; i < ROWS; i++) {
		double sum = 0;

		for (uint32_t k = starts[i]; k < starts[i + 1]; k++)
			sum += values[k] * x[columns[k]];
		y[i] = sum;
	}
}

__attribute__((noipa)) static double normalize(void)
{
	double most = 0;

	for (uint32_t i = 0; i < ROWS; i++) {
		if (y[i] > most)
			most = y[i];
	}
	for (uint32_t i = 0; i < ROWS; i++)
		x[i] = y[i] / most;
	return most;
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 30);
	double most = 0;

	matrix_make(47);
	for (uint32_t i = 0; i < ROWS; i++)
		x[i] = 1;
	while (rounds-- > 0) {
		multiply();
		most = normalize();
	}
	return program_end((uint64_t)(most * 1000));
}
