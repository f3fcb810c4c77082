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
 * More events than the PMU has counters take turns: perf rotates them, every
 * few milliseconds.
 *
 * Return: 0 or what perf says of an event; then none is left.
 */
int counters_create(unsigned int cpu, struct sampler_cpu *sampled,
		    const struct dcpi_config *config);

/**
 * counters_release() - stop counting and keep how long it was
 *
 * Handlers may still be on their way; see sampler.c.
 */
void counters_release(struct sampler_cpu *sampled);

/**
 * counters_time() - how long an event was to be counted, and was, since the start
 * @event: below DCPI_EVENTS_MAX
 */
void counters_time(const struct sampler_cpu *sampled, u32 event, u64 *enabled_ns, u64 *running_ns);

#endif
