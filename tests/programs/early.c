// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ifunc that the loader resolves while it relocates the program, before thread-local data
 * exist.
 */
#include <stdio.h>

#define CHOICES 100

static __thread int own = 5;

static int one(void)
{
	return own;
}

static int two(void)
{
	return own + 1;
}

static unsigned int mix(unsigned int x)
{
	return x * 0x19660d + 0x3c6ef35f;
}

static int (*choose(void))(void)
{
	unsigned int x = 1;

	for (int i = 0; i < CHOICES; i++)
		x = x % 2 == 0 ? x / 2 : mix(x);
	__builtin_cpu_init();
	return x != 0 && __builtin_cpu_supports("sse2") ? one : two;
}

int chosen(void) __attribute__((ifunc("choose")));

int main(void)
{
	int sum = 0;

	for (int i = 0; i < CHOICES; i++)
		sum += chosen();
	printf("%d\n", sum);
	return 0;
}
