// SPDX-License-Identifier: GPL-2.0-only
/* Fast Fourier transform, radix 2, forward and inverse. */
#include "tests/eval/truth/programs/program.h"

#define BITS 12
#define N (1 << BITS)

static double re[N], im[N], cosines[N / 2], sines[N / 2];

/* Compute the rotations by halving angles, starting from pi; no libm needed */
static void tables(void)
{
	double c[BITS + 1] = {-1, 0}, s[BITS + 1] = {0, 1};

	for (int i = 2; i <= BITS; i++) {
		double square = (1 + c[i - 1]) / 2, root = 1;

		for (int k = 0; k < 40; k++)
			root = 0.5 * (root + square / root);
		c[i] = root;
		s[i] = s[i - 1] / (2 * root);
	}
	for (int i = 0; i < N / 2; i++) {
		double a = 1, b = 0;

		for (int bit = 0; bit < BITS - 1; bit++) {
			if (i >> bit & 1) {
				double cc = c[BITS - 1 - bit], ss = s[BITS - 1 - bit], t = a;

				a = a * cc - b * ss;
				b = t * ss + b * cc;
			}
		}
		cosines[i] = a;
		sines[i] = b;
	}
}

__attribute__((noipa)) static void reorder(void)
{
	for (int i = 0, j = 0; i < N; i++) {
		int bit = N >> 1;

		if (i < j) {
			double t = re[i];

			re[i] = re[j];
			re[j] = t;
			t = im[i];
			im[i] = im[j];
			im[j] = t;
		}
		while (j & bit) {
			j ^= bit;
			bit >>= 1;
		}
		j |= bit;
	}
}

__attribute__((noipa)) static void transform(double sign)
{
	reorder();
	for (int half = 1; half < N; half *= 2) {
		int step = N / (2 * half);

		for (int start = 0; start < N; start += 2 * half) {
			for (int k = 0; k < half; k++) {
				double c = cosines[k * step], s = sign * sines[k * step];
				int a = start + k, b = a + half;
				double tr = re[b] * c - im[b] * s, ti = re[b] * s + im[b] * c;

				re[b] = re[a] - tr;
				im[b] = im[a] - ti;
				re[a] += tr;
				im[a] += ti;
			}
		}
	}
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 24);
	uint64_t seed = 29, sum = 0;

	tables();
	for (int i = 0; i < N; i++) {
		re[i] = (int)(program_random(&seed) % 2000) - 1000;
		im[i] = 0;
	}
	while (rounds-- > 0) {
		transform(1);
		transform(-1);
		for (int i = 0; i < N; i++) {
			re[i] /= N;
			im[i] /= N;
		}
	}
	for (int i = 0; i < N; i += 37)
		sum = sum * 31 + (uint64_t)(int64_t)(re[i] < 0 ? re[i] - 0.5 : re[i] + 0.5);
	return program_end(sum);
}
