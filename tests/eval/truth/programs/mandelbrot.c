// SPDX-License-Identifier: GPL-2.0-only
/* The Mandelbrot set, and the number of steps until points leave it. */
#include "tests/eval/truth/programs/program.h"

#define WIDE 120
#define HIGH 80
#define MOST 200

static uint32_t histogram[MOST + 1];

__attribute__((noipa)) static int steps(double cr, double ci)
{
	double r = 0, i = 0;
	int n = 0;

	while (n < MOST) {
		double rr = r * r, ii = i * i;

		if (rr + ii > 4)
			break;
		i = 2 * r * i + ci;
		r = rr - ii + cr;
		n++;
	}
	return n;
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 6);
	uint64_t sum = 0;

	while (rounds-- > 0) {
		for (int y = 0; y < HIGH; y++)
			for (int x = 0; x < WIDE; x++)
				histogram[steps(x * 3.0 / WIDE - 2.25, y * 2.5 / HIGH - 1.25)]++;
	}
	/* Use only points far from the border, since fused operations round differently. */
	for (int i = 0; i < 8; i++)
		sum = sum * 31 + histogram[i];
	return program_end(sum);
}
