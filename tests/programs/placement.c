// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hot procedures of many shapes, which execute the same instructions in every run: nested loops,
 * branches of any probability, a jump table, calls. Another program counts how often each
 * instruction runs, and the samples are compared with that.
 *
 *	placement ROUNDS	about 280,000 instructions each (arm64, -O2)
 */
#include <stdint.h>
#include <stdlib.h>

#define HOT __attribute__((noinline, noclone, aligned(64)))
#define SORTED 96

uint64_t hot_sort(uint64_t seed);
uint64_t hot_collatz(uint64_t first, unsigned int many);
uint64_t hot_machine(const unsigned char *program, unsigned int steps, uint64_t x);
uint64_t hot_leaf(uint64_t x);
uint64_t hot_caller(uint64_t x, unsigned int many);

static uint64_t next(uint64_t x)
{
	return x * 6364136223846793005ULL + 1442695040888963407ULL;
}

HOT uint64_t hot_sort(uint64_t seed)
{
	uint64_t numbers[SORTED];
	int i, j;

	for (i = 0; i < SORTED; i++) {
		seed = next(seed);
		numbers[i] = seed >> 20;
	}
	for (i = 1; i < SORTED; i++) {
		uint64_t number = numbers[i];

		for (j = i; j > 0 && numbers[j - 1] > number; j--)
			numbers[j] = numbers[j - 1];
		numbers[j] = number;
	}
	return numbers[SORTED / 2];
}

HOT uint64_t hot_collatz(uint64_t first, unsigned int many)
{
	uint64_t steps = 0, n;

	for (; many > 0; many--, first++) {
		for (n = first; n > 1; steps++)
			n = n % 2 == 0 ? n / 2 : 3 * n + 1;
	}
	return steps;
}

HOT uint64_t hot_machine(const unsigned char *program, unsigned int steps, uint64_t x)
{
	unsigned int at = 0;

	for (; steps > 0; steps--) {
		switch (program[at++ & 63] & 7) {
		case 0:
			x = next(x);
			break;
		case 1:
			x ^= x >> 13;
			break;
		case 2:
			x += x << 3;
			break;
		case 3:
			x = x >> 7 | x << 57;
			break;
		case 4:
			at += x & 3;
			break;
		case 5:
			x -= at;
			break;
		case 6:
			x = ~x;
			break;
		default:
			x /= (at & 15) + 1;
			x += steps;
			break;
		}
	}
	return x;
}

HOT uint64_t hot_leaf(uint64_t x)
{
	return x % 3 == 0 ? x / 3 : x ^ x >> 9;
}

HOT uint64_t hot_caller(uint64_t x, unsigned int many)
{
	for (; many > 0; many--)
		x = hot_leaf(next(x)) + many;
	return x;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned char program[64];
	uint64_t x = 1;
	int i;

	for (i = 0; i < 64; i++) {
		x = next(x);
		program[i] = (unsigned char)(x >> 40);
	}
	for (; rounds > 0; rounds--) {
		x += hot_sort(x) + hot_sort(x + 1) + hot_sort(x + 2);
		x += hot_collatz(x >> 50 | 1, 100);
		x += hot_machine(program, 6000, x);
		x += hot_caller(x, 5000);
	}
	return x == 0; /* never true, but the compiler does not know */
}
