// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control flow other than calls and returns, for programs that are instrumented:
 *
 * - ways threads N: N threads that call one function a million times in all
 * - ways fork N: N children one after the other, which call it too
 * - ways jump N: longjmp out of three calls, N times
 * - ways goto N: an interpreter with a computed goto
 * - ways switch N: a dense switch
 * - ways signal N: a handler that runs N times
 * - ways forever: calls it until killed
 * - ways own: thread-local variables, callbacks of libc
 *
 * Prints their results.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 1000000L

static __thread long mine = 7;
static __thread char buffer[100];
static volatile sig_atomic_t handled;
static jmp_buf back;

__attribute__((noipa)) long called(long x)
{
	if (x % 3 == 0)
		return x / 3;
	return x + 1;
}

static void *thread(void *argument)
{
	long sum = 0;

	for (long i = 0; i < (long)argument; i++)
		sum += called(i);
	mine += sum;
	return (void *)mine;
}

static long threads(int n)
{
	pthread_t ids[64];
	long sum = 0;

	for (int i = 0; i < n && i < 64; i++)
		pthread_create(&ids[i], NULL, thread, (void *)(CALLS / n));
	for (int i = 0; i < n && i < 64; i++) {
		void *result;

		pthread_join(ids[i], &result);
		sum += (long)result;
	}
	return sum;
}

static long forks(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		int status;
		pid_t child = fork();

		if (child == 0)
			_exit((int)called(3 * i));
		waitpid(child, &status, 0);
		sum += WEXITSTATUS(status);
	}
	return sum;
}

__attribute__((noipa)) static void deep(int n)
{
	if (n == 0)
		longjmp(back, 1);
	deep(n - 1);
	called(n);
}

static long jumps(int n)
{
	volatile long count = 0;

	while (count < n) {
		if (setjmp(back) == 0)
			deep(3);
		else
			count++;
	}
	return count;
}

static long interpret(int n)
{
	static const char program[] = {0, 1, 2, 1, 0, 3};
	static const void *const labels[] = {&&add, &&twice, &&minus, &&again};
	const char *next = program;
	long value = 1;

	goto *labels[(int)*next++];
add:
	value += 3;
	goto *labels[(int)*next++];
twice:
	value = value * 2 % 1000003;
	goto *labels[(int)*next++];
minus:
	value -= 5;
	goto *labels[(int)*next++];
again:
	if (--n <= 0)
		return value;
	next = program;
	goto *labels[(int)*next++];
}

static long choose(int n)
{
	long value = 1;

	for (int i = 0; i < n; i++) {
		switch ((value ^ i) % 8) {
		case 0:
			value += i;
			break;
		case 1:
			value ^= 0x55;
			break;
		case 2:
			value = value * 3 % 1000003;
			break;
		case 3:
			value -= called(i);
			break;
		case 4:
			value += 2; /* fall through */
		case 5:
			value |= 1;
			break;
		case 6:
			value = labs(value) / 2;
			break;
		default:
			value++;
		}
	}
	return value;
}

static void handler(int number)
{
	(void)number;
	handled++;
	called(handled);
}

static long signals(int n)
{
	signal(SIGUSR1, handler);
	for (int i = 0; i < n; i++)
		raise(SIGUSR1);
	return handled;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static long own(void)
{
	int numbers[1000];
	long sum = 0;

	for (int i = 0; i < 1000; i++)
		numbers[i] = i * 7919 % 1009;
	qsort(numbers, 1000, sizeof(*numbers), compare);
	for (int i = 0; i < 1000; i += 10)
		sum = sum * 31 + numbers[i];
	snprintf(buffer, sizeof(buffer), "%ld", mine);
	return sum + mine + (long)strlen(buffer);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "own";
	int n = argc > 2 ? atoi(argv[2]) : 1;
	long result = 0;

	if (strcmp(way, "threads") == 0)
		result = threads(n);
	else if (strcmp(way, "fork") == 0)
		result = forks(n);
	else if (strcmp(way, "jump") == 0)
		result = jumps(n);
	else if (strcmp(way, "goto") == 0)
		result = interpret(n);
	else if (strcmp(way, "switch") == 0)
		result = choose(n);
	else if (strcmp(way, "signal") == 0)
		result = signals(n);
	else if (strcmp(way, "own") == 0)
		result = own();
	else
		for (long i = 0;; i++)
			result += called(i);
	printf("%s %d: %ld\n", way, n, result);
	return 0;
}
