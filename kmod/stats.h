/* SPDX-License-Identifier: GPL-2.0-only */
/* The counters of one CPU in the format of the uapi. The caller holds the sampler's mutex. */
#ifndef DCPI_STATS_H
#define DCPI_STATS_H

#include "uapi/dcpi_uapi.h"

struct sampler_cpu;

/**
 * stats_fill() - fill in all counters; the caller has set the CPU and @online and cleared the rest
 */
void stats_fill(const struct sampler_cpu *sampled, struct dcpi_stats *stats);

/** stats_fill_event() - fill in the counters of @stats->event, below DCPI_EVENTS_MAX */
void stats_fill_event(const struct sampler_cpu *sampled, struct dcpi_event_stats *stats);

void stats_fill_times(const struct sampler_cpu *sampled, struct dcpi_times *times);

#endif
