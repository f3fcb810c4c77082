// SPDX-License-Identifier: GPL-2.0-only
/* Matrix product, LU decomposition and a triangular solve: loops over doubles. */
#include <stdio.h>
#include <stdlib.h>

#define N 120

static double a[N][N], b[N][N], c[N][N], x[N];

static unsigned int seed = 1;

static double draw(void)
{
	seed = seed * 1103515245U + 12345U;
	return (double)(seed >> 16) / 65536.0 + 0.001;
}

static void fill(void)
{
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < N; j++) {
			a[i][j] = draw() + (i == j ? N : 0);
			b[i][j] = draw();
		}
		x[i] = draw();
	}
}

static void multiply(void)
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

static int pivot_of(int column)
{
	int best = column;

	for (int i = column + 1; i < N; i++) {
		double u = a[i][column], v = a[best][column];

		if ((u < 0 ? -u : u) > (v < 0 ? -v : v))
			best = i;
	}
	return best;
}

static void decompose(void)
{
	for (int k = 0; k < N; k++) {
		int p = pivot_of(k);

		for (int j = 0; p != k && j < N; j++) {
			double t = a[k][j];

			a[k][j] = a[p][j];
			a[p][j] = t;
		}
		for (int i = k + 1; i < N; i++) {
			double f = a[i][k] / a[k][k];

			a[i][k] = f;
			for (int j = k + 1; j < N; j++)
				a[i][j] -= f * a[k][j];
		}
	}
}

static double solve(void)
{
	double sum = 0;

	for (int i = N - 1; i >= 0; i--) {
		for (int j = i + 1; j < N; j++)
			x[i] -= a[i][j] * x[j];
		x[i] /= a[i][i];
		sum += x[i];
	}
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	double sum = 0;

	for (int r = 0; r < rounds; r++) {
		fill();
		multiply();
		decompose();
		sum += solve() + c[r % N][3];
	}
	printf("%.6g\n", sum);
	return 0;
}
