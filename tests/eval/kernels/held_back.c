// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loops with a known cause of waiting, which were written after the rules that find causes
 * (docs/accuracy.md).
 *
 *	held_back --list              print the names of kernels
 *	held_back KERNEL SECONDS      run a kernel for about so long
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BIG_BYTES ((size_t)64 << 20)
#define TABLE_WORDS (BIG_BYTES / sizeof(uint64_t))
#define SORTED 1024
#define ROW_BYTES 4096
#define FACTOR 6364136223846793005U

#define PROCEDURE static __attribute__((noinline, noipa)) unsigned long

static uint64_t *table;
static uint32_t sorted[SORTED];
static volatile unsigned long word;
static unsigned char choices[4096];

static inline uint64_t next_of(uint64_t value)
{
	return value * FACTOR + 1442695040888963407U;
}

/* Independent loads from memory. */
PROCEDURE hash_probe(unsigned long count)
{
	unsigned long sum = 0;

	for (uint64_t i = 0; i < count; i++)
		sum += table[(i * FACTOR >> 40) % TABLE_WORDS];
	return sum;
}

/* Each address depends on the last load. */
PROCEDURE hash_chain(unsigned long count)
{
	uint64_t value = 1;

	while (count-- > 0)
		value = table[(next_of(value) >> 41) % TABLE_WORDS] + count;
	return value;
}

/* One line of each page, as in a column of a matrix. */
PROCEDURE column(unsigned long count)
{
	const size_t step = ROW_BYTES / sizeof(uint64_t);
	unsigned long sum = 0, at = 0;

	while (count-- > 0) {
		sum += table[at];
		at += step;
		if (at >= TABLE_WORDS)
			at = (at + 8) % step;
	}
	return sum;
}

/* Half of the branches of a binary search cannot be predicted; its data fits the first cache. */
PROCEDURE search(unsigned long count)
{
	unsigned long found = 0;
	uint64_t value = 7;

	for (unsigned long i = 0; i < count; i++) {
		uint32_t low = 0, high = SORTED, key;

		value = next_of(value);
		key = (uint32_t)(value >> 40) % (SORTED * 16);
		while (low < high) {
			uint32_t middle = (low + high) / 2;

			if (sorted[middle] < key)
				low = middle + 1;
			else
				high = middle;
			__asm__ volatile("" : "+r"(low), "+r"(high));
		}
		found += low;
	}
	return found;
}

/* Jumps through a table. */
PROCEDURE dispatch(unsigned long count)
{
	unsigned long value = 1;

	for (unsigned long i = 0; i < count; i++) {
		switch (choices[next_of(value + i) >> 52]) {
		case 0:
			value += 3;
			break;
		case 1:
			value ^= i;
			break;
		case 2:
			value = value << 3 | value >> 61;
			break;
		case 3:
			value -= i * 5;
			break;
		case 4:
			value = ~value;
			break;
		default:
			value *= 7;
		}
		__asm__ volatile("" : "+r"(value));
	}
	return value;
}

PROCEDURE float_divide(unsigned long count)
{
	double value = 1e9;

	while (count-- > 0)
		value = 3e9 / value + 2.5;
	return (unsigned long)value;
}

PROCEDURE float_multiply(unsigned long count)
{
	double value = 1.5;

	while (count-- > 0)
		value = value * 0.9999999 + 1e-7;
	return (unsigned long)value;
}

PROCEDURE fence(unsigned long count)
{
	while (count-- > 0) {
		word = count;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	}
	return 0;
}

PROCEDURE compare_exchange(unsigned long count)
{
	unsigned long old = word;

	while (count-- > 0)
		__atomic_compare_exchange_n(&word, &old, old + 1, 0, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
	return old;
}

/* Two stores of four bytes, a load of eight. */
PROCEDURE join(unsigned long count)
{
	volatile uint32_t *halves = (volatile uint32_t *)(void *)table;
	unsigned long sum = 0;

	while (count-- > 0) {
		halves[0] = (uint32_t)sum;
		halves[1] = (uint32_t)count;
		sum += *(volatile uint64_t *)(volatile void *)halves;
	}
	return sum;
}

/* Random stores to memory. */
PROCEDURE scatter(unsigned long count)
{
	for (uint64_t i = 0; i < count; i++)
		table[(i * FACTOR >> 40) % TABLE_WORDS] = i;
	return 0;
}

static const struct {
	const char *name;
	unsigned long (*run)(unsigned long count);
} kernels[] = {
	{"hash_probe", hash_probe},
	{"hash_chain", hash_chain},
	{"column", column},
	{"search", search},
	{"dispatch", dispatch},
	{"float_divide", float_divide},
	{"float_multiply", float_multiply},
	{"fence", fence},
	{"compare_exchange", compare_exchange},
	{"join", join},
	{"scatter", scatter},
};

static void data_make(void)
{
	uint64_t value = 1;

	table = malloc(BIG_BYTES);
	if (table == NULL)
		exit(2);
	for (size_t i = 0; i < TABLE_WORDS; i++)
		table[i] = value = next_of(value);
	for (uint32_t i = 0; i < SORTED; i++)
		sorted[i] = i * 16;
	for (size_t i = 0; i < sizeof(choices); i++)
		choices[i] = (unsigned char)((value = next_of(value)) >> 60) % 6;
}

static double cpu_time(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		if (argc == 2)
			puts(kernels[i].name);
		if (argc != 3 || strcmp(argv[1], kernels[i].name) != 0)
			continue;
		data_make();
		for (double end = cpu_time() + atof(argv[2]); cpu_time() < end;)
			word = kernels[i].run(1000000);
		return 0;
	}
	return argc == 2 ? 0 : 2;
}
