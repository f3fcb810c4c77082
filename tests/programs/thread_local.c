// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thread-local data that begin with pointers, which the loader relocates, and that are aligned to
 * more than a cache line. Prints the values that two threads find there.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define ALIGN 1024

static long three(long n)
{
	return 3 * n;
}

int global = 7;
static int array[] = {1, 2, 3, 4, 5};
static __thread char aligned[2 * ALIGN] __attribute__((aligned(ALIGN))) = {1, 2, 3};
__thread int *pointer = &global;
static __thread int *pointers[] = {array + 1, NULL, array + 4};
static __thread long (*volatile function)(long) = three;
static __thread char zeros[300];

static void *look(void *argument)
{
	for (int i = 0; i < 100; i++)
		zeros[i] = (char)(zeros[i] + aligned[i % 4]);
	printf("%d %d %d %d %ld %d %d\n", (int)((uintptr_t)aligned % ALIGN), aligned[2], *pointer,
	       *pointers[2] - *pointers[0], function(5), zeros[98], pointers[1] == NULL);
	*pointer += 1;
	pointer = array;
	return argument;
}

int main(void)
{
	pthread_t thread;

	look(NULL);
	pthread_create(&thread, NULL, look, NULL);
	pthread_join(thread, NULL);
	return 0;
}
