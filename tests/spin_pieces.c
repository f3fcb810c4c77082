// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the mean time of a fixed piece of work on one CPU that other processes use too:
 *
 * spin_pieces CPU SECONDS
 *
 * Prints nanoseconds. A piece takes about 100 us. Pieces in which the thread was preempted, or that
 * took three times the median, are omitted: they measure other processes, or a hypervisor that gave
 * the CPU to another machine. Interrupts are included: those of sampling, and the kernel's own.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "tests/bench.h"

#define PIECES_MAX 1000000
#define ITERATIONS 40000

static double pieces[PIECES_MAX];

static void spin(void)
{
	static volatile uint64_t sink;
	uint64_t x = sink;

	for (int i = 0; i < ITERATIONS; i++)
		x = (x ^ x >> 7) * 0x9e3779b97f4a7c15ULL + 1;
	sink = x;
}

static long preemptions(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	double end = bench_now_ns(), sum = 0;
	size_t count = 0, kept = 0;
	cpu_set_t cpus;

	if (argc != 3) {
		fputs("usage: spin_pieces CPU SECONDS\n", stderr);
		return 2;
	}
	CPU_ZERO(&cpus);
	CPU_SET((unsigned int)atoi(argv[1]), &cpus);
	end += atof(argv[2]) * 1e9;
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0) {
		perror("spin_pieces: cannot stay on the CPU");
		return 2;
	}
	while (count < PIECES_MAX) {
		long before = preemptions();
		double start = bench_now_ns(), now;

		spin();
		now = bench_now_ns();
		if (preemptions() == before)
			pieces[count++] = now - start;
		if (now >= end)
			break;
	}
	if (count < 100) {
		fputs("spin_pieces: the machine is too busy\n", stderr);
		return 1;
	}
	qsort(pieces, count, sizeof(pieces[0]), compare);
	while (kept < count && pieces[kept] < 3 * pieces[count / 2])
		sum += pieces[kept++];
	printf("%.2f\n", sum / (double)kept);
	return 0;
}
