// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loops with known numbers of iterations.
 *
 *	loop_kernels KERNEL SECONDS     run a kernel for about so long, print its iterations
 *
 * Each kernel waits for something else: a load from the first-level cache or from memory, a
 * division, a square root, a multiplication, mispredicted branches, stores to new lines, an atomic
 * operation, a call.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE_BYTES 64
#define BIG_BYTES ((size_t)64 << 20)
#define RANDOM_FACTOR 6364136223846793005U

struct node {
	struct node *next;
	char room[LINE_BYTES - sizeof(struct node *)];
};

static struct node *list;
static char *big;
static unsigned long result;

/* A list through @count lines, in an order that no processor predicts. */
static void list_make(size_t count)
{
	size_t *order = malloc(count * sizeof(*order));

	list = aligned_alloc(LINE_BYTES, count * sizeof(*list));
	if (list == NULL || order == NULL)
		exit(2);
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = count - 1; i > 0; i--) {
		size_t other = (size_t)rand() % i, kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
	for (size_t i = 0; i < count; i++)
		list[order[i]].next = &list[order[(i + 1) % count]];
	free(order);
}

#define KERNEL __attribute__((noinline, noipa))

KERNEL static void chase(unsigned long count)
{
	struct node *node = list;

	for (unsigned long i = 0; i < count; i++)
		node = node->next;
	result += (unsigned long)node;
}

KERNEL static void divide(unsigned long count)
{
	unsigned long value = 123456789;

	for (unsigned long i = 1; i <= count; i++)
		value = value / (i | 3) + 0x123456789abc;
	result += value;
}

KERNEL static void square_root(unsigned long count)
{
	double value = 2;

	for (unsigned long i = 0; i < count; i++)
		value = sqrt(value) + (double)i;
	result += (unsigned long)value;
}

KERNEL static void multiply(unsigned long count)
{
	unsigned long value = 3;

	for (unsigned long i = 0; i < count; i++)
		value = value * RANDOM_FACTOR + i;
	result += value;
}

KERNEL static void mispredict(unsigned long count)
{
	unsigned long value = 3;

	for (unsigned long i = 0; i < count; i++) {
		value = value * RANDOM_FACTOR + 1442695040888963407U;
		if (value >> 63 != 0)
			__asm__ volatile("" : "+r"(result));
	}
	result += value;
}

KERNEL static void update(unsigned long count)
{
	unsigned long value = 3;

	for (unsigned long i = 0; i < count; i++) {
		value = value * RANDOM_FACTOR + 1442695040888963407U;
		big[(value >> 33) % BIG_BYTES]++;
	}
}

KERNEL static void atomic(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		__atomic_add_fetch(&result, 1, __ATOMIC_SEQ_CST);
}

KERNEL static unsigned long callee(unsigned long value)
{
	return value * RANDOM_FACTOR + 1;
}

KERNEL static void calls(unsigned long count)
{
	unsigned long value = 1;

	for (unsigned long i = 0; i < count; i++)
		value += callee(value);
	result += value;
}

static const struct kernel {
	const char *name;
	void (*run)(unsigned long count);
	size_t lines;
} kernels[] = {
	{"chase_small", chase, 16}, {"chase_big", chase, BIG_BYTES / LINE_BYTES},
	{"divide", divide, 1},	    {"square_root", square_root, 1},
	{"multiply", multiply, 1},  {"mispredict", mispredict, 1},
	{"update", update, 1},	    {"atomic", atomic, 1},
	{"calls", calls, 1},
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Return: all iterations, those that warm up caches and measure the speed included. */
static unsigned long run(const struct kernel *kernel, double seconds)
{
	unsigned long count = 1000, sum = kernel->lines;
	double took = 0, begun;

	kernel->run(kernel->lines);
	for (; took < 0.05; count *= 2) {
		begun = now();
		kernel->run(count);
		took = now() - begun;
		sum += count;
	}
	count = (unsigned long)((double)count / 2 * seconds / took);
	kernel->run(count);
	return sum + count;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 2 && i < sizeof(kernels) / sizeof(*kernels); i++) {
		if (strcmp(argv[1], kernels[i].name) != 0)
			continue;
		list_make(kernels[i].lines);
		big = calloc(1, BIG_BYTES);
		if (big == NULL)
			return 2;
		memset(big, 1, BIG_BYTES);
		printf("%lu\n", run(&kernels[i], atof(argv[2])));
		return result == 1;
	}
	return 2;
}
