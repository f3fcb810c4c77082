/* SPDX-License-Identifier: GPL-2.0-only */
/* The counters of one CPU as the uapi has them. The caller holds the sampler's mutex. */
#ifndef DCPI_STATS_H
#define DCPI_STATS_H

#include "uapi/dcpi_uapi.h"

struct sampler_cpu;

/** stats_fill() - all but the CPU and @online, which the caller has set; the rest is zeroed. */
void stats_fill(const struct sampler_cpu *sampled, struct dcpi_stats *stats);

/** stats_fill_event() - @stats->event is below DCPI_EVENTS_MAX. */
void stats_fill_event(const struct sampler_cpu *sampled, struct dcpi_event_stats *stats);

void stats_fill_times(const struct sampler_cpu *sampled, struct dcpi_times *times);

#endif
