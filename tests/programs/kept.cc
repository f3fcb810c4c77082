// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exceptions through frames that are told by %rbp, from behind an early return: registers that
 * the caller's caller wants kept must be what they were.
 */
#include <alloca.h>
#include <cstdio>

static volatile int sink;

__attribute__((noipa)) static void use(char *bytes, int count)
{
	for (int i = 0; i < count; i++)
		bytes[i] = (char)i;
	sink = bytes[count / 2];
}

__attribute__((noipa, cold)) static void fail(int number)
{
	throw number;
}

__attribute__((noipa)) static int work(int n, int m)
{
	char *bytes = (char *)alloca((size_t)n + 16);
	int k = n * 3 + m, l = n ^ m, q = m * 7 - n;

	use(bytes, n + 1);
	if (n % 7 != 3 || m == 0)
		return k + l + bytes[n] - q;
	use(bytes, k & 7);
	fail(k);
	return l + q;
}

__attribute__((noipa)) static long all(long a, long b, long c, long d, long e)
{
	long sum = 0;

	for (int i = 0; i < 50; i++) {
		try {
			sum += work(i, 1 + (i & 1));
		} catch (int number) {
			sum += number;
		}
		sum += a + b * 3 + c * 5 + d * 7 + e * 11;
	}
	return sum + a + b + c + d + e;
}

int main()
{
	printf("%ld\n", all(1, 20, 300, 4000, 50000));
	return 0;
}
