/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's limit on samples (kernel.perf_event_max_sample_rate), which it
 * lowers by itself while it runs, when it finds that interrupts take long
 * ("perf: interrupt took too long"), and never raises again.
 *
 * In a tick of 1/HZ seconds an event may take limit / HZ samples, rounded up
 * to a whole number n: the n-th sample throttles it, and it is off for the rest
 * of the tick. That would sample the beginning of each tick and not its end.
 * At half of the limit a tick sees one sample more than limit / 2 / HZ, rounded
 * down, at most; that is less than n wherever limit / HZ is over 2. (At 2 and
 * below it takes samples that come late to reach n.) At 7/8 of it that does not
 * hold: with a limit of 750 and HZ = 250 the third sample in a tick throttles,
 * and 656 samples a second are often three in a tick.
 */
#ifndef DCPI_RATE_LIMIT_H
#define DCPI_RATE_LIMIT_H

#include <stdint.h>

#include "daemon/event/event.h"

/** rate_limit_open() - Return: a descriptor for rate_limit_read(), or -1: no limit known. */
int rate_limit_open(void);

/** rate_limit_read() - the limit now, in samples a second; 0 if it cannot be told. */
uint64_t rate_limit_read(int fd);

/** rate_limit_now() - the same, once. */
uint64_t rate_limit_now(void);

/** rate_limit_safe() - the rate that is never throttled under a limit; 0 for 0. */
static inline uint64_t rate_limit_safe(uint64_t limit)
{
	return limit > 1 ? limit / 2 : limit;
}

/**
 * rate_limit_apply() - lengthen periods that a limit does not allow, and log it
 * @limit:  0: none
 * @cpu_hz: clock of the CPUs
 *
 * Return: whether any was changed; see event_list_limit_rate().
 */
bool rate_limit_apply(uint64_t limit, struct event_list *events, uint64_t cpu_hz);

#endif
