/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's limit on samples (kernel.perf_event_max_sample_rate). The kernel lowers it while
 * running, when interrupts take too long ("perf: interrupt took too long"), and never raises it
 * again.
 *
 * In a tick of 1/HZ seconds an event may take limit / HZ samples, rounded up to an integer n. The
 * n-th sample throttles the event for the rest of the tick. So the beginning of each tick would be
 * sampled and its end would not. At half of the limit, a tick has at most limit / 2 / HZ samples,
 * rounded down, plus one. This is less than n if limit / HZ is over 2. (At 2 and below, n is
 * reached only by delayed samples.) 7/8 of the limit would not suffice: with a limit of 750 and HZ
 * = 250 the third sample in a tick throttles, and at 656 samples per second many ticks have three.
 */
#ifndef DCPI_RATE_LIMIT_H
#define DCPI_RATE_LIMIT_H

#include <stdint.h>

#include "daemon/event/event.h"

/** rate_limit_open() - return a descriptor for rate_limit_read(), or -1: the limit is unknown. */
int rate_limit_open(void);

/** rate_limit_read() - return the current limit, in samples per second; 0 if it is unknown. */
uint64_t rate_limit_read(int fd);

/** rate_limit_now() - open the file, and return the current limit. */
uint64_t rate_limit_now(void);

/** rate_limit_safe() - return a rate that is never throttled under a limit; 0 for 0. */
static inline uint64_t rate_limit_safe(uint64_t limit)
{
	return limit > 1 ? limit / 2 : limit;
}

/**
 * rate_limit_apply() - lengthen periods that are too short for a limit, and log this
 * @limit:  0: none
 * @cpu_hz: clock of the CPUs
 *
 * Return: true if any was changed; see event_list_limit_rate().
 */
bool rate_limit_apply(uint64_t limit, struct event_list *events, uint64_t cpu_hz);

#endif
