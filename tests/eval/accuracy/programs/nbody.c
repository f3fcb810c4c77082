// SPDX-License-Identifier: GPL-2.0-only
/* Bodies under gravity, and the Mandelbrot set: floating point with divisions and roots. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BODIES 24

struct body {
	double x, y, z, vx, vy, vz, mass;
};

static struct body bodies[BODIES];

static void place(void)
{
	for (int i = 0; i < BODIES; i++) {
		bodies[i] = (struct body){.x = i * 1.7 + 1,
					  .y = (i * 7) % 11,
					  .z = (i * 5) % 13,
					  .vx = 0.01 * (i % 3),
					  .mass = 1 + i % 4};
	}
}

static void advance(double dt)
{
	for (int i = 0; i < BODIES; i++) {
		struct body *a = &bodies[i];

		for (int j = i + 1; j < BODIES; j++) {
			struct body *b = &bodies[j];
			double dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
			double d2 = dx * dx + dy * dy + dz * dz + 0.01;
			double mag = dt / (d2 * sqrt(d2));

			a->vx -= dx * b->mass * mag;
			a->vy -= dy * b->mass * mag;
			a->vz -= dz * b->mass * mag;
			b->vx += dx * a->mass * mag;
			b->vy += dy * a->mass * mag;
			b->vz += dz * a->mass * mag;
		}
	}
	for (int i = 0; i < BODIES; i++) {
		bodies[i].x += dt * bodies[i].vx;
		bodies[i].y += dt * bodies[i].vy;
		bodies[i].z += dt * bodies[i].vz;
	}
}

static double energy(void)
{
	double e = 0;

	for (int i = 0; i < BODIES; i++) {
		const struct body *b = &bodies[i];

		e += 0.5 * b->mass * (b->vx * b->vx + b->vy * b->vy + b->vz * b->vz);
	}
	return e;
}

static int escape(double cr, double ci)
{
	double zr = 0, zi = 0;
	int i;

	for (i = 0; i < 200; i++) {
		double r2 = zr * zr, i2 = zi * zi;

		if (r2 + i2 > 4)
			break;
		zi = 2 * zr * zi + ci;
		zr = r2 - i2 + cr;
	}
	return i;
}

static long mandelbrot(int size)
{
	long sum = 0;

	for (int y = 0; y < size; y++) {
		for (int x = 0; x < size; x++)
			sum += escape(-2 + 3.0 * x / size, -1.5 + 3.0 * y / size);
	}
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	long sum = 0;

	place();
	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < 100; i++)
			advance(0.001);
		sum += mandelbrot(32);
	}
	printf("%.9f %ld\n", energy(), sum);
	return 0;
}
