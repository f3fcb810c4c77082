// SPDX-License-Identifier: GPL-2.0-only
#include "stats.h"

#include "counters.h"
#include "sampler_cpu.h"

static u64 event_interrupts(const struct sampler_event *event)
{
	return event->interrupts + (u64)local_read(&event->refused);
}

/* The store does not include refused edges in its number of edges. */
static void fill_edges(const struct sampler_cpu *sampled, struct dcpi_stats *stats)
{
	const struct sample_store *store = &sampled->store;

	stats->branches_tried = examine_count(sampled).examined;
	stats->edges = store->edges + store->edges_refused;
	stats->edges_lost = store->edges_lost + store->edges_refused + sampled->edges_gone;
	stats->delivered_edges = sampled->delivered_edges;
}

/* Return @all - @gone, or 0 if that is negative because the counters change while they are read. */
static u64 left_of(u64 all, u64 gone)
{
	return all > gone ? all - gone : 0;
}

/*
 * At rest, count the entries, so that a sample that is unaccounted for is visible. While sampling,
 * the count would be inexact, and it would cost a walk through the table every time that the daemon
 * reads the counters.
 */
static void fill_pending(const struct sampler_cpu *sampled, struct dcpi_stats *stats)
{
	struct sample_totals pending;
	u64 gone = stats->second + stats->delivered;
	u32 i;

	if (!sampled->table)
		return;
	if (stats->online) {
		for (i = 0; i < DCPI_LOSS_NR; i++)
			gone += stats->losses[i];
		stats->pending = left_of(stats->interrupts, gone);
		stats->pending_edges =
			left_of(stats->edges, stats->delivered_edges + stats->edges_lost);
		return;
	}
	pending = sample_store_pending_totals(&sampled->store);
	stats->pending = pending.samples;
	stats->pending_edges = pending.edges;
}

void stats_fill(const struct sampler_cpu *sampled, struct dcpi_stats *stats)
{
	const struct sample_store *store = &sampled->store;
	u32 i;

	for (i = 0; i < DCPI_EVENTS_MAX; i++) {
		stats->interrupts += event_interrupts(&sampled->event[i]);
		stats->period_sum += sampled->event[i].period_sum;
	}
	for (i = 0; i < DCPI_LOSS_NR; i++)
		stats->losses[i] = store->lost[i];
	stats->hits = store->hits;
	stats->misses = store->misses;
	stats->evictions = store->evictions;
	stats->direct = store->direct;
	stats->flips = store->flips;
	stats->second = sampled->twice.second;
	stats->delivered = sampled->delivered;
	stats->delivered_entries = sampled->delivered_entries;
	fill_edges(sampled, stats);
	fill_pending(sampled, stats);
}

void stats_fill_event(const struct sampler_cpu *sampled, struct dcpi_event_stats *stats)
{
	const struct sampler_event *event = &sampled->event[stats->event];

	stats->interrupts = event_interrupts(event);
	stats->period_sum = event->period_sum;
	counters_time(sampled, stats->event, &stats->enabled_ns, &stats->running_ns);
}

void stats_fill_times(const struct sampler_cpu *sampled, struct dcpi_times *times)
{
	const struct sampler_times *from = &sampled->times;
	u32 i;

	for (i = 0; i < DCPI_TIME_BUCKETS; i++) {
		times->hit[i] = (u64)local_read(&from->count[SAMPLER_TIME_HIT][i]);
		times->miss[i] = (u64)local_read(&from->count[SAMPLER_TIME_MISS][i]);
	}
	times->hit_ns = (u64)local_read(&from->sum_ns[SAMPLER_TIME_HIT]);
	times->miss_ns = (u64)local_read(&from->sum_ns[SAMPLER_TIME_MISS]);
}
