// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sequential threads; each calls called() a hundred times.
 *
 *	workers N	N threads
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLS 100

__attribute__((noipa)) long called(long x)
{
	return x % 3 == 0 ? x / 3 : x + 1;
}

static void *work(void *argument)
{
	long *sum = argument;

	for (long i = 0; i < CALLS; i++)
		*sum += called(i);
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	long sum = 0;

	for (int i = 0; i < n; i++) {
		pthread_t id;

		if (pthread_create(&id, NULL, work, &sum) != 0)
			return 1;
		pthread_join(id, NULL);
	}
	printf("%ld\n", sum);
	return 0;
}
