/* SPDX-License-Identifier: GPL-2.0-only */
/* The perf counters of one CPU. The caller holds the sampler's mutex. */
#ifndef DCPI_COUNTERS_H
#define DCPI_COUNTERS_H

#include <linux/types.h>

#include "uapi/dcpi_uapi.h"

struct sampler_cpu;

/**
 * counters_create() - start counting all events on one CPU
 * @sampled: its state, without counters
 *
 * If there are more events than the PMU has counters, perf rotates them every few milliseconds.
 *
 * Return: 0, or the error that perf returned for an event; then no counter is left.
 */
int counters_create(unsigned int cpu, struct sampler_cpu *sampled,
		    const struct dcpi_config *config);

/**
 * counters_release() - stop counting and save how long each event was counted
 *
 * Handlers may still be running; see sampler.c.
 */
void counters_release(struct sampler_cpu *sampled);

/**
 * counters_time() - return how long an event was enabled and running since the start
 * @event: below DCPI_EVENTS_MAX
 */
void counters_time(const struct sampler_cpu *sampled, u32 event, u64 *enabled_ns, u64 *running_ns);

#endif
