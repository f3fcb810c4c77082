// SPDX-License-Identifier: GPL-2.0-only
/*
 * Procedures that depend on how others use registers: written by hand, and static ones as compilers
 * optimise them. Prints their results, which are the same in any instrumented clone.
 */
#include <stdio.h>

long keeps(long a, long b);
long results(long a, long b);
long hash_twice(const char *text);
long tells(long a);
long passes_on(long a);
long moves(long a, long b);
long takes_third(long a, long b);
long gives_third(long a, long b, long (*to)(long, long));
long hands_third(long a, long b, long (*to)(long, long));
long has_third_passed(long a, long b, long (*to)(long, long));
long clamps(long a);
long obscure(long a, long b);
long joins(long a, long b);
long joins_by_call(long a, long b);
long sums(long a, long b);

/* Clobbers every register that the ABI permits, as unknown code may do. */
long world(long a);
long world(long a)
{
	__asm__ volatile("xor %%ecx, %%ecx; xor %%edx, %%edx; xor %%esi, %%esi; xor %%edi, %%edi;"
			 "mov $-1, %%r8; mov $-2, %%r9; mov $-3, %%r10; mov $-4, %%r11"
			 :
			 :
			 : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
	return 2 * a;
}

long world_of_two(long a, long b);
long world_of_two(long a, long b)
{
	return 100 * a + b;
}

/* A case for gcc's -fipa-ra: leaves that need few registers, called where many are live. */
__attribute__((noinline)) static long small_leaf(long a, long b)
{
	return a * 7 ^ b;
}

__attribute__((noinline)) static long crowded(const long *x, int n)
{
	long a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], f = x[5], g = x[6], h = x[7];

	for (int i = 0; i < n; i++) {
		long t = small_leaf(a + i, b);

		a += b ^ t;
		b += c + small_leaf(c, t);
		c ^= d;
		d += e * 3;
		e ^= small_leaf(f, g);
		f += g ^ h;
		g -= a;
		h += t;
	}
	return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}

int main(int argc, char **argv)
{
	static const char text[] = "all that is left behind is of use";
	long x[8] = {1, 2, 3, 5, 8, 13, 21, 34}, sum = 0;
	long (*volatile third)(long, long) = takes_third;

	(void)argv;
	for (long i = 0; i < 3000 * argc; i++) {
		sum = sum * 3 + keeps(i, sum & 0xff);
		sum = sum * 3 + results(i % 13, i);
		sum = sum * 3 + hash_twice(text + i % 20);
		sum = sum * 3 + tells(i);
		sum = sum * 3 + passes_on(i);
		sum = sum * 3 + moves(i, 11);
		sum = sum * 3 + gives_third(i % 3, i, third);
		sum = sum * 3 + hands_third(i % 2, i, third);
		sum = sum * 3 + has_third_passed(i % 5 - 2, i, third);
		sum = sum * 3 + clamps(i % 9);
		sum = sum * 3 + obscure(i, i % 4);
		sum = sum * 3 + joins(i, i % 2);
		sum = sum * 3 + joins_by_call(i, 5);
		sum = sum * 3 + sums(i % 6, i);
		if (i % 100 == 0)
			printf("%ld\n", sum);
	}
	printf("%ld %ld\n", sum, crowded(x, 1000));
	return 0;
}
