// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls interrupted by signal handlers, and calls on a deep stack:
 *
 * - interrupted timer N: N calls of work(), which calls inner() and leaf(), while the
 *   handler of a timer makes other calls; prints their number
 * - interrupted deep N: N + 1 frames of down(), which calls leaf() in each
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define NOIPA __attribute__((noipa))

static volatile unsigned long sum, handled;

NOIPA static void leaf(void)
{
	sum++;
}

NOIPA static void inner(void)
{
	leaf();
	sum ^= 5;
}

NOIPA static void work(void)
{
	inner();
	leaf();
	sum += 3;
}

NOIPA static void handler(int number)
{
	handled += number == SIGALRM;
	inner();
}

NOIPA static long down(long n)
{
	leaf();
	return n == 0 ? 0 : down(n - 1) + 1;
}

NOIPA static void timer(long n)
{
	struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	while (n-- > 0)
		work();
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%lu\n", handled);
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0;

	if (argc > 2 && strcmp(argv[1], "timer") == 0)
		timer(n);
	else if (argc > 2 && strcmp(argv[1], "deep") == 0)
		printf("%ld\n", down(n));
	else
		return 2;
	return 0;
}
