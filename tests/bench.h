/* SPDX-License-Identifier: GPL-2.0-only */
/* The one form of a benchmark's figures: a JSON object a line. */
#ifndef DCPI_TESTS_BENCH_H
#define DCPI_TESTS_BENCH_H

#include <stdio.h>
#include <time.h>

/**
 * bench_report() - print a figure
 * @name:     of the figure: "store_hit"
 * @subject:  what was measured: "sample_store"
 * @workload: with what
 * @unit:     of @value: "ns", "bytes"
 *
 * Strings go into JSON as they are: no quotes, no backslashes.
 */
static inline void bench_report(const char *name, const char *subject, const char *workload,
				double value, const char *unit)
{
	printf("{\"name\": \"%s\", \"subject\": \"%s\", \"workload\": \"%s\", \"value\": %.4g, "
	       "\"unit\": \"%s\"}\n",
	       name, subject, workload, value, unit);
}

/** bench_now_ns() - CLOCK_MONOTONIC. */
static inline double bench_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

#endif
