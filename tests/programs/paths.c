// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths through procedures, for path profiles:
 *
 * - paths recursion: procedures that call themselves and each other, on many paths
 * - paths callbacks: libc calls back, also into the procedure that has called libc
 * - paths jumps: longjmp over procedures with unfinished paths
 * - paths many: a procedure with far more paths than fit into its counters
 * - paths coroutines: two stacks alternate in one procedure
 * - paths fork: a child continues the path that its parent was on
 * - paths signal: a handler calls the procedure that it has interrupted
 *
 * Prints their results.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOIPA __attribute__((noipa))

static volatile unsigned int seed = 1;

NOIPA static unsigned int draw(unsigned int below)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % below;
}

NOIPA static long odd(long n);

NOIPA static long even(long n)
{
	long sum = 0;

	if (n <= 0)
		return 1;
	if (draw(3) == 0)
		sum += odd(n - 2);
	else
		sum ^= n;
	if (draw(2) == 0)
		sum += even(n - 3);
	return sum + odd(n - 1) % 7;
}

NOIPA static long odd(long n)
{
	long sum = n;

	for (long i = 0; i < n % 4; i++) {
		if (draw(4) == 0)
			sum += even(n - 4);
		else if (draw(2) == 0)
			sum *= 3;
	}
	return sum;
}

/* Called for recursion, often with callees that recurse as well. */
static long (*volatile again)(long n);

NOIPA static long helps(long n)
{
	return n > 0 && draw(3) == 0 ? again(n - 2) : n;
}

NOIPA static long mixed(long n)
{
	long sum = n;

	if (n <= 0)
		return 1;
	if (draw(2) == 0)
		sum += draw(5);
	sum += helps(n - 1);
	if (draw(2) == 0)
		sum += draw(7);
	sum += helps(n);
	if (draw(3) == 0)
		sum -= mixed(n - 1);
	if (draw(2) == 0)
		sum += draw(9);
	return sum;
}

static long recursion(void)
{
	long sum = even(18);

	again = mixed;
	for (int i = 0; i < 300; i++)
		sum += mixed(i % 8) % 7;
	return sum;
}

static int depth;

NOIPA static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	if (depth < 2 && draw(40) == 0) {
		int few[5];

		for (int i = 0; i < 5; i++)
			few[i] = (int)draw(10);
		depth++;
		qsort(few, 5, sizeof(*few), compare);
		depth--;
		if (few[0] > x)
			return x < y ? -1 : x > y;
	}
	if (x == y)
		return 0;
	return x < y ? -1 : 1;
}

static long callbacks(void)
{
	int all[500];
	long sum = 0;

	for (int i = 0; i < 500; i++)
		all[i] = (int)draw(1000);
	qsort(all, 500, sizeof(*all), compare);
	for (int i = 0; i < 500; i++)
		sum = sum * 7 + all[i];
	return sum;
}

static jmp_buf back;

NOIPA static long deeper(int n)
{
	long sum = n;

	if (draw(2) == 0)
		sum += 3;
	if (n == 0 && draw(3) == 0)
		longjmp(back, 1);
	if (n > 0)
		sum += deeper(n - 1);
	return draw(2) == 0 ? sum : -sum;
}

static long jumps(void)
{
	volatile long sum = 0, times = 0;

	while (times < 1000) {
		times++;
		if (setjmp(back) == 0)
			sum += deeper((int)draw(6));
		else
			sum += 100;
	}
	return sum;
}

NOIPA static long many(unsigned int bits)
{
	long sum = 0;

#define STEP(i)                                                                                    \
	if (bits & 1U << (i))                                                                      \
		sum += draw(2) + (i);                                                              \
	else                                                                                       \
		sum ^= 5 * (i);
#define STEPS(i) STEP(i) STEP(i + 1) STEP(i + 2) STEP(i + 3) STEP(i + 4) STEP(i + 5) STEP(i + 6)
	STEPS(0)
	STEPS(7)
	STEPS(14)
	STEPS(21)
	return sum;
}

static long many_paths(void)
{
	long sum = 0;

	for (unsigned int i = 0; i < 3000; i++)
		sum += many(i % 3 == 0 ? 5 : draw(1U << 12) << 12 | draw(1U << 12));
	return sum;
}

static ucontext_t ways[3];
static long switched;

NOIPA static void take_turns(int me, int n)
{
	for (int i = 0; i < n; i++) {
		if (draw(2) == 0)
			switched += 3;
		if ((i + me) % 3 != 0)
			swapcontext(&ways[me], &ways[3 - me]);
		if (draw(2) == 0)
			switched ^= 5;
		else
			switched += me;
	}
}

static void coroutine(int me)
{
	take_turns(me, 300);
}

static long coroutines(void)
{
	static char stacks[2][65536];

	for (int i = 1; i <= 2; i++) {
		getcontext(&ways[i]);
		ways[i].uc_stack.ss_sp = stacks[i - 1];
		ways[i].uc_stack.ss_size = sizeof(stacks[0]);
		ways[i].uc_link = &ways[0];
		makecontext(&ways[i], (void (*)(void))coroutine, 1, i);
	}
	swapcontext(&ways[0], &ways[1]);
	return switched;
}

NOIPA static pid_t fork_inside(int n)
{
	long sum = draw(2) == 0 ? 1 : 2;
	pid_t child = -1;

	if (n > 0)
		child = fork_inside(n - 1);
	else
		child = fork();
	if (sum == 1)
		return child;
	return child + (draw(2) == 0 ? 0 : 0);
}

static long forks(void)
{
	long sum = 0;

	for (int i = 0; i < 8; i++) {
		pid_t child = fork_inside(i);
		int status;

		if (child == 0)
			exit((int)draw(100));
		waitpid(child, &status, 0);
		sum += WEXITSTATUS(status);
	}
	return sum;
}

static volatile sig_atomic_t inside;

NOIPA static long interrupted(long n)
{
	long sum = 0;

	if (n & 1)
		sum += 3;
	if (n % 1000 == 7 && !inside)
		raise(SIGUSR1);
	if (n & 2)
		sum += 5;
	return sum;
}

static void handler(int number)
{
	(void)number;
	inside = 1;
	seed += (unsigned int)interrupted((long)draw(100));
	inside = 0;
}

static long signals(void)
{
	long sum = 0;

	signal(SIGUSR1, handler);
	for (long i = 0; i < 20000; i++)
		sum += interrupted(i);
	return sum;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (strcmp(way, "recursion") == 0)
		printf("%ld\n", recursion());
	else if (strcmp(way, "callbacks") == 0)
		printf("%ld\n", callbacks());
	else if (strcmp(way, "jumps") == 0)
		printf("%ld\n", jumps());
	else if (strcmp(way, "many") == 0)
		printf("%ld\n", many_paths());
	else if (strcmp(way, "coroutines") == 0)
		printf("%ld\n", coroutines());
	else if (strcmp(way, "fork") == 0)
		printf("%ld\n", forks());
	else if (strcmp(way, "signal") == 0)
		printf("%ld\n", signals());
	else
		return 2;
	return 0;
}
