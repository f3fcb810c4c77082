/* SPDX-License-Identifier: GPL-2.0-only */
/* Common output format of the benchmarks: one JSON object per line. */
#ifndef DCPI_TESTS_BENCH_H
#define DCPI_TESTS_BENCH_H

#include <stdio.h>
#include <time.h>

/**
 * bench_report() - print a result
 * @name:     name of the result: "store_hit"
 * @subject:  the code measured: "sample_store"
 * @workload: the input it was measured with
 * @unit:     unit of @value: "ns", "bytes"
 *
 * Strings are printed unescaped and must contain neither quotes nor backslashes.
 */
static inline void bench_report(const char *name, const char *subject, const char *workload,
				double value, const char *unit)
{
	printf("{\"name\": \"%s\", \"subject\": \"%s\", \"workload\": \"%s\", \"value\": %.4g, "
	       "\"unit\": \"%s\"}\n",
	       name, subject, workload, value, unit);
}

/** bench_now_ns() - return the time of CLOCK_MONOTONIC in nanoseconds */
static inline double bench_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

#endif
