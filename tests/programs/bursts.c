// SPDX-License-Identifier: GPL-2.0-only
/*
 * bursts STRIDE: known memory references of a loop and of a recursion. Prints the address range of
 * each.
 */
#include <stdio.h>
#include <stdlib.h>

#define WORDS 65536
#define DEPTH 2000

static volatile long words[WORDS];
static volatile long chain[DEPTH];

__attribute__((noinline)) static long walk(long stride)
{
	long sum = 0;

	for (long i = 0; i < WORDS; i += stride)
		sum += words[i];
	return sum;
}

__attribute__((noinline)) static long descend(long depth)
{
	long here = chain[depth];

	return depth + 1 < DEPTH ? here + descend(depth + 1) : here;
}

int main(int argc, char **argv)
{
	long stride = argc > 1 ? atol(argv[1]) : 1, sum = 0;

	for (int round = 0; round < 20; round++)
		sum += walk(stride) + descend(0);
	printf("%p %p %zu %p %zu\n", (void *)argv, (void *)words, sizeof(words), (void *)chain,
	       sizeof(chain));
	return (int)sum;
}
