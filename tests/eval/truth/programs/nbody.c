// SPDX-License-Identifier: GPL-2.0-only
/* Planets under gravitation. The checksum has few digits, since sums differ in the last ones. */
#include "tests/eval/truth/programs/program.h"

#define BODIES 8

static double x[BODIES][3], v[BODIES][3], mass[BODIES];

static double root(double a)
{
	double guess = a > 1 ? a / 2 : 1;

	for (int i = 0; i < 6; i++)
		guess = 0.5 * (guess + a / guess);
	return guess;
}

__attribute__((noipa)) static void attract(double dt)
{
	for (int i = 0; i < BODIES; i++) {
		for (int j = i + 1; j < BODIES; j++) {
			double d[3], square = 0.01, scale;

			for (int k = 0; k < 3; k++) {
				d[k] = x[i][k] - x[j][k];
				square += d[k] * d[k];
			}
			scale = dt / (square * root(square));
			for (int k = 0; k < 3; k++) {
				v[i][k] -= d[k] * mass[j] * scale;
				v[j][k] += d[k] * mass[i] * scale;
			}
		}
	}
}

__attribute__((noipa)) static void move(double dt)
{
	for (int i = 0; i < BODIES; i++)
		for (int k = 0; k < 3; k++)
			x[i][k] += dt * v[i][k];
}

int main(int argc, char **argv)
{
	unsigned int steps = program_rounds(argc, argv, 8000);
	uint64_t seed = 23;
	double energy = 0;

	for (int i = 0; i < BODIES; i++) {
		mass[i] = 1 + program_random(&seed) % 5;
		for (int k = 0; k < 3; k++)
			x[i][k] = (int)(program_random(&seed) % 200) - 100;
	}
	while (steps-- > 0) {
		attract(0.01);
		move(0.01);
	}
	for (int i = 0; i < BODIES; i++)
		for (int k = 0; k < 3; k++)
			energy += mass[i] * v[i][k] * v[i][k];
	return program_end((uint64_t)(energy * 1000));
}
