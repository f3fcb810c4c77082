// SPDX-License-Identifier: GPL-2.0-only
/* Integers: long division and multiplication, greatest common divisors, primes, bits, a cipher. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 240

static uint32_t big[DIGITS], other[DIGITS], product[2 * DIGITS];
static uint32_t seed = 77;

static uint32_t draw(void)
{
	seed = seed * 1664525U + 1013904223U;
	return seed ^ seed >> 15;
}

static void multiply(void)
{
	memset(product, 0, sizeof(product));
	for (int i = 0; i < DIGITS; i++) {
		uint64_t carry = 0;

		for (int j = 0; j < DIGITS; j++) {
			carry += product[i + j] + (uint64_t)big[i] * other[j];
			product[i + j] = (uint32_t)carry;
			carry >>= 32;
		}
		product[i + DIGITS] = (uint32_t)carry;
	}
}

static uint32_t divide(uint32_t by)
{
	uint64_t rest = 0;

	for (int i = 2 * DIGITS - 1; i >= 0; i--) {
		rest = rest << 32 | product[i];
		product[i] = (uint32_t)(rest / by);
		rest %= by;
	}
	return (uint32_t)rest;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b != 0) {
		uint32_t t = a % b;

		a = b;
		b = t;
	}
	return a;
}

static uint32_t gcd_binary(uint32_t a, uint32_t b)
{
	int shift = 0;

	if (a == 0 || b == 0)
		return a | b;
	for (; ((a | b) & 1) == 0; shift++) {
		a >>= 1;
		b >>= 1;
	}
	while ((a & 1) == 0)
		a >>= 1;
	do {
		while ((b & 1) == 0)
			b >>= 1;
		if (a > b) {
			uint32_t t = a;

			a = b;
			b = t;
		}
		b -= a;
	} while (b != 0);
	return a << shift;
}

static uint64_t power(uint64_t base, uint64_t exponent, uint64_t modulus)
{
	uint64_t result = 1;

	for (base %= modulus; exponent != 0; exponent >>= 1) {
		if (exponent & 1)
			result = result * base % modulus;
		base = base * base % modulus;
	}
	return result;
}

static int prime(uint32_t n)
{
	static const uint32_t witnesses[] = {2, 7, 61};
	uint32_t d = n - 1;
	int twos = 0;

	if (n < 4 || n % 2 == 0)
		return n == 2 || n == 3;
	for (; d % 2 == 0; d /= 2)
		twos++;
	for (size_t i = 0; i < sizeof(witnesses) / sizeof(witnesses[0]); i++) {
		uint64_t x = power(witnesses[i], d, n);
		int k = 0;

		if (witnesses[i] % n == 0 || x == 1 || x == n - 1)
			continue;
		while (++k < twos && x != n - 1)
			x = x * x % n;
		if (x != n - 1)
			return 0;
	}
	return 1;
}

static uint32_t cipher(uint32_t rounds)
{
	uint32_t v0 = draw(), v1 = draw(), sum = 0;
	static const uint32_t key[] = {1, 22, 333, 4444};

	for (uint32_t i = 0; i < rounds; i++) {
		v0 += ((v1 << 4 ^ v1 >> 5) + v1) ^ (sum + key[sum & 3]);
		sum += 0x9e3779b9;
		v1 += ((v0 << 4 ^ v0 >> 5) + v0) ^ (sum + key[sum >> 11 & 3]);
	}
	return v0 ^ v1;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	uint32_t sum = 0;

	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < DIGITS; i++) {
			big[i] = draw();
			other[i] = draw();
		}
		multiply();
		sum += divide(draw() | 1);
		for (int i = 0; i < 400; i++) {
			sum += gcd(draw(), draw()) + gcd_binary(draw(), draw());
			sum += (uint32_t)__builtin_popcount(draw()) + cipher(32);
		}
		for (int i = 0; i < 60; i++)
			sum += (uint32_t)prime(draw() | 1);
	}
	printf("%u\n", sum);
	return 0;
}
