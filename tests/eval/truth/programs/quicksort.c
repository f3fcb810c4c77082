// SPDX-License-Identifier: GPL-2.0-only
/* Quicksort with the median of three, and insertion sort for small parts. */
#include "tests/eval/truth/programs/program.h"

#define N 200000
#define SMALL 12

static int values[N];

static void swap(int *a, int *b)
{
	int t = *a;

	*a = *b;
	*b = t;
}

__attribute__((noipa)) static void insertion(int *v, long n)
{
	for (long i = 1; i < n; i++) {
		int x = v[i];
		long j = i;

		for (; j > 0 && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

__attribute__((noipa)) static long partition(int *v, long n)
{
	long i = 0, j = n - 1;
	int pivot;

	if (v[0] > v[n / 2])
		swap(&v[0], &v[n / 2]);
	if (v[n / 2] > v[n - 1])
		swap(&v[n / 2], &v[n - 1]);
	if (v[0] > v[n / 2])
		swap(&v[0], &v[n / 2]);
	pivot = v[n / 2];
	for (;;) {
		while (v[i] < pivot)
			i++;
		while (v[j] > pivot)
			j--;
		if (i >= j)
			return j + 1;
		swap(&v[i++], &v[j--]);
	}
}

static void quicksort(int *v, long n)
{
	while (n > SMALL) {
		long left = partition(v, n);

		quicksort(v, left);
		v += left;
		n -= left;
	}
	insertion(v, n);
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 4);
	uint64_t seed = 7, sum = 0;

	while (rounds-- > 0) {
		for (int i = 0; i < N; i++)
			values[i] = (int)program_random(&seed);
		quicksort(values, N);
		for (int i = 0; i < N; i += 97)
			sum = sum * 31 + (uint64_t)values[i];
	}
	return program_end(sum);
}
