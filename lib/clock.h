/* SPDX-License-Identifier: GPL-2.0-only */
/* Times in nanoseconds. */
#ifndef DCPI_CLOCK_H
#define DCPI_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_SECOND 1000000000ULL
#define NS_PER_MS 1000000ULL
#define NS_PER_US 1000ULL

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* For intervals and for matching samples with image events. */
static inline uint64_t clock_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Counts also while the machine sleeps; independent of changes of the wall clock. */
static inline uint64_t clock_boot_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

/* Since the Unix epoch, as in the database. */
static inline int64_t clock_real_ns(void)
{
	return (int64_t)clock_ns(CLOCK_REALTIME);
}

static inline struct timespec clock_timespec(uint64_t time_ns)
{
	return (struct timespec){.tv_sec = (time_t)(time_ns / NS_PER_SECOND),
				 .tv_nsec = (long)(time_ns % NS_PER_SECOND)};
}

#endif
