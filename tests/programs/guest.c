// SPDX-License-Identifier: GPL-2.0-only
/* A library for host.c: calls of called() are counted. With -DFORKS, guest_fork() forks in here. */
#include <unistd.h>

static __thread int last;
static int (*volatile callback)(int);

int called(int n);
int guest_call(int times);
int guest_back(int (*back)(int), int n);
int guest_last(void);
int guest_fork(void);

__attribute__((noinline)) int called(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n % 7 == 0 ? n + 1 : n;
}

int guest_call(int times)
{
	int sum = 0;

	for (int i = 0; i < times; i++)
		sum += called(i);
	last = times;
	return sum;
}

int guest_back(int (*back)(int), int n)
{
	callback = back;
	return callback(n) + called(n);
}

int guest_last(void)
{
	return last;
}

int guest_fork(void)
{
	return fork();
}
