// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs with loops whose execution counts are known by construction, for known_loops.py:
 *
 *	known_loops CASE
 *
 * runs one of them for about half a second, in the procedure "kernel", and prints the execution
 * count of the body of its most frequent loop.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE (1 << 22)

static uint32_t table[TABLE];
static volatile uint64_t sink;

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Each iteration depends on the one before, so that no compiler simplifies the loop. */
#define STEP(x) __asm__ volatile("imul $3, %0, %0\n\tadd $1, %0" : "+r"(x))

#define KERNEL static __attribute__((noinline, noclone)) uint64_t

struct shape {
	const char *name;
	uint64_t outer, middle, inner;
};

/* Nested loops; trip counts are parameters, so that the code does not contain them. */
KERNEL kernel(const struct shape *shape, uint64_t *count)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < shape->outer; i++) {
		for (uint64_t j = 0; j < shape->middle; j++) {
			for (uint64_t k = 0; k < shape->inner; k++)
				STEP(x);
			STEP(x);
		}
	}
	*count = shape->outer * shape->middle * shape->inner;
	return x;
}

/* The exits of the inner loop depend on data. */
KERNEL kernel_search(uint64_t searches, uint32_t mask, uint64_t *count)
{
	uint64_t x = 1, steps = 0;
	uint32_t state = 7;

	for (uint64_t i = 0; i < searches; i++) {
		uint32_t at = next_random(&state) % TABLE, from = at;

		while ((table[at % TABLE] & mask) != 0) {
			STEP(x);
			at++;
		}
		STEP(x);
		steps += at - from;
	}
	*count = steps;
	return x;
}

/* Two sequential loops of different speed: two phases of one procedure. */
KERNEL kernel_phases(uint64_t first, uint64_t second, uint64_t *count)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < first; i++)
		STEP(x);
	for (uint64_t i = 0; i < second; i++) {
		STEP(x);
		sink = x;
		STEP(x);
		STEP(x);
	}
	*count = first;
	return x;
}

/* Traverse by columns: each iteration waits for memory. */
KERNEL kernel_column(uint64_t times, uint64_t rows, uint64_t *count)
{
	uint64_t x = 0;

	for (uint64_t t = 0; t < times; t++) {
		for (uint64_t j = 0; j < TABLE / rows; j++)
			for (uint64_t i = 0; i < rows; i++)
				x += table[i * (TABLE / rows) + j];
		sink = x;
	}
	*count = times * TABLE;
	return x;
}

/* A branch in the loop has a random direction. */
KERNEL kernel_branch(uint64_t times, uint64_t *count)
{
	uint64_t x = 1;

	for (uint64_t t = 0; t < times; t++) {
		if (table[t % TABLE] & 1)
			STEP(x);
		else
			sink = x;
		STEP(x);
	}
	*count = times;
	return x;
}

static const struct shape shapes[] = {
	{"trips3", 1000, 120000, 3},	   {"trips10", 1000, 47000, 10},
	{"trips100", 1000, 5200, 100},	   {"trips10000", 100, 520, 10000},
	{"trips1000000", 1, 520, 1000000}, {"once", 1, 1, 520000000},
};

static uint64_t run_other(const char *name, uint64_t *count)
{
	if (strcmp(name, "search8") == 0)
		return kernel_search(6000000, 7, count);
	if (strcmp(name, "search1000") == 0)
		return kernel_search(400000, 1023, count);
	if (strcmp(name, "phases") == 0)
		return kernel_phases(240000000, 60000000, count);
	if (strcmp(name, "column") == 0)
		return kernel_column(30, 1024, count);
	if (strcmp(name, "branch") == 0)
		return kernel_branch(300000000, count);
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	uint64_t count = 0, x = 0;
	uint32_t state = 1;

	for (size_t i = 0; i < TABLE; i++)
		table[i] = next_random(&state);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		if (strcmp(name, shapes[i].name) == 0)
			x = kernel(&shapes[i], &count);
	}
	if (count == 0)
		x = run_other(name, &count);
	if (count == 0)
		return 2;
	printf("%llu %llu\n", (unsigned long long)count, (unsigned long long)x);
	return 0;
}
