// SPDX-License-Identifier: GPL-2.0-only
/* The product of two matrices, as textbooks have it: the program of docs/tutorial.md. */
#include <stdint.h>
#include <stdio.h>

#define ROWS 256
#define N 1024

static double left[ROWS][N], right[N][N], product[ROWS][N];

static void matrix_fill(double *numbers, int count)
{
	uint32_t x = 1;

	for (int i = 0; i < count; i++) {
		x = x * 1664525 + 1013904223;
		numbers[i] = (x >> 16) / 65536.0;
	}
}

static void multiply(void)
{
	for (int i = 0; i < ROWS; i++) {
		for (int j = 0; j < N; j++) {
			for (int k = 0; k < N; k++)
				product[i][j] += left[i][k] * right[k][j];
		}
	}
}

int main(void)
{
	double trace = 0;

	matrix_fill(left[0], ROWS * N);
	matrix_fill(right[0], N * N);
	multiply();
	for (int i = 0; i < ROWS; i++)
		trace += product[i][i];
	printf("trace %.6f\n", trace);
	return 0;
}
