// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cases where call-graph profilers (gprof) fail because they distribute time by numbers of calls.
 * These are a shared procedure whose cost depends on its caller, mutually recursive procedures, and
 * a procedure that calls the task that it gets as a pointer.
 */
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline, noclone))

static volatile unsigned long sink;

APART static void spin(unsigned long times)
{
	for (unsigned long i = 0; i < times; i++)
		sink += i;
}

/* --- a shared procedure --- */

APART static void shared(unsigned long work)
{
	spin(work);
	sink++;
}

/* A thousand calls, little work. */
APART static void cheap_caller(void)
{
	for (int i = 0; i < 1000; i++)
		shared(10);
	sink++;
}

/* One call that does nearly all of the work. */
APART static void costly_caller(void)
{
	shared(1000000);
	sink++;
}

/* --- mutual recursion --- */

APART static void even(int depth);

/* Works before the recursive call; the callee works in a leaf. */
APART static void odd(int depth)
{
	spin(20000);
	if (depth > 0)
		even(depth - 1);
	sink++;
}

APART static void leaf(void)
{
	spin(30000);
	sink++;
}

APART static void even(int depth)
{
	leaf();
	if (depth > 0)
		odd(depth - 1);
	sink++;
}

APART static void circle(void)
{
	even(20);
	sink++;
}

/* --- a procedure with a procedure as parameter --- */

APART static void small_task(void)
{
	spin(1000);
	sink++;
}

APART static void large_task(void)
{
	spin(800000);
	sink++;
}

APART static void apply(void (*task)(void), int times)
{
	for (int i = 0; i < times; i++)
		task();
	sink++;
}

APART static void with_small(void)
{
	apply(small_task, 50);
	sink++;
}

APART static void with_large(void)
{
	apply(large_task, 1);
	sink++;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < rounds; i++) {
		cheap_caller();
		costly_caller();
		circle();
		with_small();
		with_large();
	}
	printf("%lu\n", sink);
	return 0;
}
