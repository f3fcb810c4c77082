// SPDX-License-Identifier: GPL-2.0-only
/* Divisions: greatest common divisors, powers modulo, continued fractions. */
#include "tests/eval/truth/programs/program.h"

__attribute__((noipa)) static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t t = a % b;

		a = b;
		b = t;
	}
	return a;
}

__attribute__((noipa)) static uint64_t power(uint64_t base, uint32_t exponent, uint64_t modulus)
{
	uint64_t result = 1;

	for (; exponent; exponent >>= 1) {
		if (exponent & 1)
			result = result * base % modulus;
		base = base * base % modulus;
	}
	return result;
}

__attribute__((noipa)) static double fraction(double x, int terms)
{
	double value = x;

	while (terms-- > 0)
		value = x + 1 / value;
	return value;
}

__attribute__((noipa)) static double variance(const double *v, int n)
{
	double mean = 0, sum = 0;

	for (int i = 0; i < n; i++)
		mean += v[i] / n;
	for (int i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean) / (n - 1);
	return sum;
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 3);
	uint64_t seed = 61, sum = 0;
	static double values[4000];

	while (rounds-- > 0) {
		for (int i = 0; i < 30000; i++)
			sum += gcd(program_random(&seed), program_random(&seed));
		for (int i = 0; i < 3000; i++)
			sum = sum * 31 +
			      power(program_random(&seed), 65537 + (uint32_t)i, 2147483647);
		for (int i = 0; i < 4000; i++) {
			values[i] = program_random(&seed) % 1000;
			sum += (uint64_t)(fraction(values[i], 30) * 1000);
		}
		for (int i = 0; i < 10; i++)
			sum += (uint64_t)variance(values, 4000 - i);
	}
	return program_end(sum);
}
