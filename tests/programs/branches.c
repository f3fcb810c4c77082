// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branches of all kinds: loops of different trip counts, biased and
 * data-dependent conditions, a jump table, indirect calls, recursion, tests of
 * bits and of zero. The behaviour depends only on the argument. Another program
 * counts how often each edge is taken (tests/truth/edge_counts.h).
 *
 *	branches ROUNDS		about 100,000 instructions each (arm64, -O2)
 */
#include <stdint.h>
#include <stdlib.h>

#define HOT __attribute__((noinline, noclone, aligned(64)))
#define NUMBERS 128
/* Keeps the compiler from turning the branch into a conditional move. */
#define BRANCH(x) __asm__ volatile("" : "+r"(x))

uint64_t hot_trips(uint64_t x, unsigned int many);
uint64_t hot_bias(uint64_t x, unsigned int many);
uint64_t hot_switch(uint64_t x, unsigned int many);
uint64_t hot_indirect(uint64_t x, unsigned int many);
uint64_t hot_recurse(uint64_t x, unsigned int depth);
uint64_t hot_search(const uint32_t *sorted, uint64_t x, unsigned int many);
uint64_t hot_list(uint64_t x, unsigned int many);

struct link {
	struct link *next;
	uint64_t value;
};

/* Written at run time, so that values loaded from here are not constants. */
static struct link links[NUMBERS];

static uint64_t next(uint64_t x)
{
	return x * 6364136223846793005ULL + 1442695040888963407ULL;
}

HOT uint64_t hot_trips(uint64_t x, unsigned int many)
{
	unsigned int i, j, k;

	for (i = 0; i < many; i++) {
		for (j = 0; j < 3; j++)
			x ^= x << 5;
		for (k = i & 15; k > 0; k--)
			x += x >> 3;
	}
	return x;
}

static uint64_t stir(uint64_t x, uint64_t y)
{
	BRANCH(x);
	return x ^ y;
}

/* One in 2, 4, 64; a bit; a sign; a comparison of two variable values. */
HOT uint64_t hot_bias(uint64_t x, unsigned int many)
{
	uint64_t y = 0;

	for (; many > 0; many--) {
		x = next(x);
		if (x >> 63)
			y = stir(y, x >> 7);
		if ((x >> 40 & 3) == 0)
			y = stir(y, x);
		if ((x >> 20 & 63) == 0)
			y = stir(y, 3);
		if (x & 1ULL << 33)
			y = stir(y, 1);
		if ((int32_t)(x >> 8) < 0)
			y = stir(y, many);
		if ((uint32_t)y > (uint32_t)(x >> 32))
			y = stir(y >> 1, 5);
	}
	return y;
}

HOT uint64_t hot_switch(uint64_t x, unsigned int many)
{
	for (; many > 0; many--) {
		x = next(x);
		switch (x >> 60) {
		case 0:
		case 1:
		case 2:
		case 3:
			x = stir(x + many, 1);
			break;
		case 4:
			x = stir(x ^ x >> 11, 3);
			break;
		case 5:
			x = stir(x - (x >> 5), 7);
			break;
		case 6:
			x = stir(x, x << 1);
			break;
		case 7:
			x = stir(~x, 15);
			break;
		case 8:
			x = stir(x >> 9 | x << 55, 31);
			break;
		case 9:
			x = stir(x * 5, 63);
			break;
		case 10:
			x = stir(x >> 3, x);
			break;
		default:
			break;
		}
	}
	return x;
}

HOT static uint64_t one(uint64_t x)
{
	return x % 5 == 0 ? stir(x / 5, 1) : x + 1;
}

HOT static uint64_t two(uint64_t x)
{
	return x ^ x >> 17;
}

HOT static uint64_t three(uint64_t x)
{
	return (int64_t)x < 0 ? stir(x, 9) : x * 7;
}

static uint64_t (*const volatile functions[4])(uint64_t x) = {one, two, three, two};

HOT uint64_t hot_indirect(uint64_t x, unsigned int many)
{
	for (; many > 0; many--) {
		x = next(x);
		x = functions[x >> 62](x);
	}
	return x;
}

HOT uint64_t hot_recurse(uint64_t x, unsigned int depth)
{
	if (depth == 0)
		return next(x);
	x = hot_recurse(x, depth - 1);
	return x & 1 << 20 ? hot_recurse(x, depth - 1) + 1 : x;
}

HOT uint64_t hot_search(const uint32_t *sorted, uint64_t x, unsigned int many)
{
	uint64_t found = 0;

	for (; many > 0; many--) {
		unsigned int low = 0, high = NUMBERS;
		uint32_t key;

		x = next(x);
		key = (uint32_t)(x >> 33);
		while (low < high) {
			unsigned int middle = (low + high) / 2;

			if (sorted[middle] <= key)
				low = (unsigned int)stir(middle + 1, 0);
			else
				high = middle;
		}
		found += low;
	}
	return found;
}

HOT uint64_t hot_list(uint64_t x, unsigned int many)
{
	const struct link *link;
	uint64_t sum = 0;

	for (; many > 0; many--) {
		x = next(x);
		for (link = &links[x >> 57]; link && link->value != (x >> 30 & 15);
		     link = link->next)
			sum += link->value;
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	uint32_t sorted[NUMBERS];
	uint64_t x = 1;
	unsigned int i;

	for (i = 0; i < NUMBERS; i++) {
		x = next(x);
		sorted[i] = i * (INT32_MAX / NUMBERS);
		links[i].next = i > 0 ? &links[i - 1] : NULL;
		links[i].value = x >> 60;
	}
	for (; rounds > 0; rounds--) {
		x += hot_trips(x, 200);
		x += hot_bias(x, 800);
		x += hot_switch(x, 1000);
		x += hot_indirect(x, 1000);
		x += hot_recurse(x, 10);
		x += hot_search(sorted, x, 200);
		x += hot_list(x, 200);
	}
	return x == 0; /* never true, but the compiler does not know */
}
