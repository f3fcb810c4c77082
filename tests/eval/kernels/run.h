/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places of kernels, and the run of a program of kernels.
 *
 *	PROGRAM --list                    print the names of kernels
 *	PROGRAM KERNEL PLACE SECONDS      run a kernel for about this CPU time in each thread
 *
 * PLACE is where the loop is: "alone" in a procedure that is called once, in a "callee" that runs
 * for some microseconds at each call, or in a larger "program" that also does other work. The
 * output is "NUMBER COUNT": the kernel's number, and how many counts all threads ran, those before
 * the measurement included. Counts are multiples of 64. The program built with COUNT_MARKS runs
 * 64 counts, and its output is "MAIN OUTER": the executions of the kernel's marks (marks.h).
 */
#ifndef KERNEL_RUN_H
#define KERNEL_RUN_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "marks.h"

#define RANDOM_FACTOR 6364136223846793005U
#define RANDOM_TERM 1442695040888963407U
#define BODY static inline __attribute__((always_inline)) void
#define PROCEDURE static __attribute__((noinline, noipa))
#define HIDE(x) __asm__("" : "+r"(x))

static volatile unsigned long result;
static __thread unsigned int thread_number;

/* --- places ------------------------------------------------------------------ */

static unsigned char work_bytes[4096];

/* Work that is not the kernel's. */
static inline __attribute__((always_inline)) void work_fill(unsigned long seed)
{
	for (size_t i = 0; i < sizeof(work_bytes); i++) {
		seed = seed * RANDOM_FACTOR + RANDOM_TERM;
		work_bytes[i] = (unsigned char)(seed >> 56);
	}
}

static inline __attribute__((always_inline)) unsigned long work_sum(void)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < sizeof(work_bytes); i++) {
		if (work_bytes[i] % 3 == 0)
			sum += work_bytes[i];
		else
			sum ^= i;
	}
	return sum;
}

#define PLACES(name)                                                                               \
	PROCEDURE void alone_##name(unsigned long count, unsigned long part)                       \
	{                                                                                          \
		(void)part;                                                                        \
		name(count);                                                                       \
	}                                                                                          \
	PROCEDURE void callee_##name(unsigned long count)                                          \
	{                                                                                          \
		name(count);                                                                       \
	}                                                                                          \
	PROCEDURE void calls_##name(unsigned long count, unsigned long part)                       \
	{                                                                                          \
		for (; count > part; count -= part)                                                \
			callee_##name(part);                                                       \
		callee_##name(count);                                                              \
	}                                                                                          \
	PROCEDURE void program_##name(unsigned long count, unsigned long part)                     \
	{                                                                                          \
		unsigned long sum = 0, pass = part * 16;                                           \
                                                                                                   \
		for (; count > 0; count -= pass) {                                                 \
			work_fill(sum + count);                                                    \
			sum += work_sum();                                                         \
			pass = count < pass ? count : pass;                                        \
			name(pass);                                                                \
			if (sum % 7 == 0)                                                          \
				sum ^= work_sum();                                                 \
		}                                                                                  \
		result = sum;                                                                      \
	}

/* --- the run ------------------------------------------------------------------ */

typedef void (*place_fn)(unsigned long count, unsigned long part);

/*
 * @part:    count of a call of the callee; a multiple of 64, or all counts execute the same
 * @bytes:   size of the kernel's data, if that differs between kernels
 * @threads: that run it
 */
struct kernel {
	const char *name;
	place_fn alone, calls, program;
	unsigned long part;
	size_t bytes;
	int threads;
};

#define RUNS(name) #name, alone_##name, calls_##name, program_##name

/* CPU time of the process in seconds: on a busy machine it decides the number of samples. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct job {
	const struct kernel *kernel;
	place_fn place;
	unsigned long count;
	unsigned int number;
};

static void *job_run(void *argument)
{
	const struct job *job = argument;

	thread_number = job->number;
	job->place(job->count, job->kernel->part);
	return NULL;
}

/* Counts are multiples of 64, because some kernels repeat after 64. */
static void run(const struct kernel *kernel, place_fn place, unsigned long count)
{
	struct job jobs[2] = {{kernel, place, count, 0}, {kernel, place, count, 1}};
	pthread_t thread;

	if (kernel->threads == 2 && pthread_create(&thread, NULL, job_run, &jobs[1]) != 0)
		exit(2);
	job_run(&jobs[0]);
	if (kernel->threads == 2)
		pthread_join(thread, NULL);
}

static unsigned long run_for(const struct kernel *kernel, place_fn place, double seconds)
{
	unsigned long count = 64, sum = 0;
	double took = 0, begun;

	for (; took < 0.05; count *= 2) {
		begun = now();
		run(kernel, place, count);
		took = (now() - begun) / kernel->threads;
		sum += count;
	}
	count = (unsigned long)((double)count / 2 * seconds / took) / 64 * 64 + 64;
	run(kernel, place, count);
	return (sum + count) * (unsigned long)kernel->threads;
}

static place_fn place_of(const struct kernel *kernel, const char *name)
{
	if (strcmp(name, "alone") == 0)
		return kernel->alone;
	if (strcmp(name, "callee") == 0)
		return kernel->calls;
	if (strcmp(name, "program") == 0)
		return kernel->program;
	exit(2);
}

static void report(const struct kernel *kernel, size_t number, place_fn place, double seconds)
{
	if (!MARKS_COUNT) {
		printf("%zu %lu\n", number, run_for(kernel, place, seconds));
		return;
	}
	place(64, kernel->part);
	printf("%lu %lu\n", mark_executions[MARK_MAIN], mark_executions[MARK_OUTER]);
}

/* @data_make: prepares the data of a kernel before its run */
static int kernels_main(int argc, char **argv, const struct kernel *kernels, size_t count,
			void (*data_make)(const struct kernel *kernel))
{
	for (size_t i = 0; i < count; i++) {
		if (argc == 2)
			puts(kernels[i].name);
		if (argc != 4 || strcmp(argv[1], kernels[i].name) != 0)
			continue;
		data_make(&kernels[i]);
		report(&kernels[i], i, place_of(&kernels[i], argv[2]), atof(argv[3]));
		return 0;
	}
	return argc == 2 ? 0 : 2;
}

#endif
