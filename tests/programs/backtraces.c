// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls, loops, branches, a dense switch, a computed goto and a PLT stub, executed for the first
 * time and again, including libc's own, with a backtrace at every single instruction (tracer.c).
 * Prints if all backtraces were complete; with an argument, also where they were not.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define DEPTH 12

void tracer_begin(void);
void tracer_end(bool where);

/* A leaf whose flags are live across an edge. */
__attribute__((noipa)) static long leaf(long x, long y)
{
	if (x > y)
		x -= y;
	if (x == y)
		return x;
	return x ^ (y > 3 ? y : -x);
}

/* Needs many callee-saved registers. */
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

/* This procedure is the only caller of the stub. */
__attribute__((noipa)) static long through_stub(long x)
{
	return x ^ getppid();
}

int main(int argc, char **argv)
{
	long x = 1;

	(void)argv;
	x = deep(DEPTH, x); /* lazy binding and other one-time work is done now */
	tracer_begin();
	for (int i = 0; i < 10; i++)
		x = deep(DEPTH, through_stub(x) & 0xffff);
	tracer_end(argc > 1);
	return x == 3;
}
