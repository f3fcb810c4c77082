// SPDX-License-Identifier: GPL-2.0-only
/*
 * A backtrace at every single instruction of calls, loops, branches, a dense switch, a
 * computed goto and a stub of the linkage table, for the first time and again, libc's own
 * included: the processor traps after each. Prints whether all came
 * to where main() was called; with an argument, where the others were.
 */
#define _GNU_SOURCE
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define TRAP_FLAG 0x100
#define ENOUGH 5000
#define FRAMES 100
#define CALLER 2 /* of main(): the last but one, before _start() */
#define DEPTH 12
#define LOST 1000

static volatile sig_atomic_t on;
static volatile long taken;
static volatile long lost;
static void *caller;
static long lost_at[LOST];

static void *caller_of_main(void)
{
	void *all[FRAMES];
	int frames = backtrace(all, FRAMES);

	return frames >= CALLER ? all[frames - CALLER] : NULL;
}

static void handler(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)number;
	(void)info;
	if (on)
		registers[REG_EFL] |= TRAP_FLAG;
	else
		registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	taken++;
	if (caller_of_main() == caller)
		return;
	if (lost < LOST)
		lost_at[lost] = registers[REG_RIP];
	lost++;
}

/* A leaf, with flags that live across an edge. */
__attribute__((noipa)) static long leaf(long x, long y)
{
	if (x > y)
		x -= y;
	if (x == y)
		return x;
	return x ^ (y > 3 ? y : -x);
}

/* Keeps many registers. */
__attribute__((noipa)) static long wide(long a, long b, long c, long d, long e)
{
	long x = leaf(a, b), y = leaf(b, c), z = leaf(c, d), u = leaf(d, e), v = leaf(e, a);

	for (int i = 0; i < 5; i++) {
		if ((x ^ i) & 1)
			x += leaf(y, i);
		else if (z > u)
			z -= v;
	}
	return x + y - z + (u ^ v);
}

__attribute__((noipa)) static long choose(long x)
{
	switch (x & 7) {
	case 0:
		return leaf(x, 1);
	case 1:
		return wide(x, 2, 3, 4, 5);
	case 2:
		return x * 3;
	case 3:
		return leaf(7, x) + leaf(x, 7);
	case 4:
		x += 5; /* fall through */
	case 5:
		return x ^ 0x55;
	case 6:
		return labs(x) / 3;
	default:
		return x + 1;
	}
}

__attribute__((noipa)) static long interpret(const char *next, long value)
{
	static const void *const labels[] = {&&add, &&call, &&end};

	goto *labels[(int)*next++];
add:
	value += 3;
	goto *labels[(int)*next++];
call:
	value ^= leaf(value, *next);
	goto *labels[(int)*next++];
end:
	return value;
}

__attribute__((noipa)) static long deep(int n, long x)
{
	static const char program[] = {0, 1, 0, 0, 1, 1, 2};

	x = choose(x) + interpret(program, x);
	if (n > 0)
		x ^= deep(n - 1, x + n);
	return leaf(x, n);
}

/* Nobody else calls it. */
__attribute__((noipa)) static long through_stub(long x)
{
	return x ^ getppid();
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	long x = 1;

	(void)argv;
	x = deep(DEPTH, x); /* what happens once has happened */
	caller = caller_of_main();
	sigaction(SIGTRAP, &action, NULL);
	on = 1;
	raise(SIGTRAP);
	for (int i = 0; i < 10; i++)
		x = deep(DEPTH, through_stub(x) & 0xffff);
	on = 0;
	raise(SIGTRAP);
	for (long i = 0; i < lost && i < LOST && argc > 1; i++)
		printf("%lx\n", lost_at[i]);
	printf("%s, %ld lost\n", taken > ENOUGH ? "enough" : "too few", lost);
	return x == 3;
}
