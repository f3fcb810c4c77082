// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/collector_counters.h"

#include <errno.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/code/code_capture.h"
#include "daemon/collect/accumulate.h"
#include "daemon/collect/collector.h"
#include "daemon/collect/collector_slices.h"
#include "daemon/collect/edge_accumulate.h"
#include "daemon/collect/image_names.h"
#include "daemon/collect/matcher.h"
#include "daemon/collect/stack_unwinder.h"
#include "daemon/collect/thread_store.h"
#include "daemon/source/off_cpu.h"
#include "db/profile_write.h"
#include "lib/clock.h"

int64_t collector_counters_now(const struct collector *collector)
{
	return collector->epoch_start_ns +
	       (int64_t)(clock_boot_ns() - collector->retention.epoch_begun_ns);
}

static void source_counter_take(void *context, const char *group, const char *name, uint64_t count)
{
	counter_set_put(context, group, name, count);
}

uint64_t collector_counters_taken(struct collector *collector)
{
	struct counter_set ignored = {.count = 0};

	return collector->source->ops->counters(collector->source, source_counter_take, &ignored);
}

/* Return true if this collector handles edges; otherwise it omits their counters. */
static bool has_edges(const struct collector *collector)
{
	return collector->config.branch_every > 0 || collector->config.double_every > 0 ||
	       collector->edges_handed > 0;
}

/* edges_handed = edges in the database + all others. */
static void edge_counters_read(const struct collector *collector, struct counter_set *tally)
{
	if (!has_edges(collector))
		return;
	counter_set_put(tally, "stat", "edges_handed", collector->edges_handed);
	counter_set_put(tally, "stat", "edges_unknown", collector->edges_unknown);
	counter_set_put(tally, "stat", "edges_memory", edge_accumulate_refused(collector->edges));
}

static void code_counters_read(const struct collector *collector, struct counter_set *tally)
{
	struct code_capture_counts counts;

	if (collector->capture == NULL)
		return;
	counts = code_capture_counts(collector->capture);
	counter_set_put(tally, "stat", "code_changed", counts.changed);
	counter_set_put(tally, "stat", "code_unreadable", counts.unreadable);
}

/*
 * Read all counters since the start; @settled: out: number of samples passed on or lost. For a
 * stopped source this is its own count of interrupts, so that a missing sample would show as a
 * difference.
 */
static void counters_read(struct collector *collector, struct counter_set *tally, uint64_t *settled)
{
	uint64_t interrupts;
	int i;

	memset(tally, 0, sizeof(*tally));
	interrupts =
		collector->source->ops->counters(collector->source, source_counter_take, tally);
	*settled = collector->handed + counter_set_sum(tally, "loss");
	if (collector->stopped)
		*settled = interrupts;
	off_cpu_report(collector->off_cpu, source_counter_take, tally);
	counter_set_put(tally, "loss", "memory", accumulate_refused(collector->accumulate));
	for (i = 0; i < IMAGE_UNKNOWN_NR; i++)
		counter_set_put(tally, "unknown", image_unknown_name((enum image_unknown)i),
				collector->unknown[i]);
	edge_counters_read(collector, tally);
	counter_set_put(tally, "stat", "pairs_unplaced", collector->pairs_unplaced);
	code_counters_read(collector, tally);
	if (collector->stacks != NULL) {
		stack_unwinder_counters(collector->stacks, tally);
		counter_set_put(tally, "stat", "threads_memory",
				thread_store_refused(collector->threads));
	}
	if (collector->names != NULL)
		image_names_counters(collector->names, tally);
	counter_set_put(tally, "stat", "entries", collector->entries);
	counter_set_put(tally, "stat", "samples", collector->handed);
	matcher_counters(collector->matcher, tally);
	counter_set_put(tally, "stat", "merges", collector->merges);
	counter_set_put(tally, "stat", "merge_failures", collector->merge_failures);
}

void collector_counters_epoch(struct collector *collector, struct counter_set *tally,
			      uint64_t *interrupts)
{
	uint64_t settled;

	counters_read(collector, tally, &settled);
	counter_set_subtract(tally, &collector->base);
	counter_set_put(tally, "stat", "drain_gap_ms", collector->drain_gap_ns / NS_PER_MS);
	counter_set_put(tally, "stat", "commit_ms", collector->commit_ns / NS_PER_MS);
	if (collector->config.sample_cost_ns > 0)
		counter_set_put(tally, "stat", "sample_cost_ns", collector->config.sample_cost_ns);
	if (collector->core_clock.max_khz > 0) {
		counter_set_put(tally, "stat", "core_clock_min_khz", collector->core_clock.min_khz);
		counter_set_put(tally, "stat", "core_clock_max_khz", collector->core_clock.max_khz);
	}
	if (collector->replaced > 0)
		counter_set_put(tally, "loss", "database_replaced", collector->replaced);
	for (size_t i = 0; i < collector->command.count; i++) {
		const struct profile_counter *counter = &collector->command.counter[i];

		counter_set_put(tally, counter->group, counter->name, counter->count);
	}
	*interrupts = settled - collector->base_interrupts;
}

/* Warn once about throttling, which makes a profile less accurate than it seems. */
static void throttling_report(struct collector *collector, const struct counter_set *tally)
{
	if (collector->throttle_reported || counter_set_get(tally, "stat", "throttled") == 0)
		return;
	collector->throttle_reported = true;
	log_warning("the kernel throttles sampling (limit now %llu samples per second)",
		    (unsigned long long)collector->limit);
}

/* If the source provides no times of an event now, the last known ones remain. */
static void times_read(struct collector *collector)
{
	const struct source_ops *ops = collector->source->ops;
	size_t i;

	for (i = 0; ops->event_time != NULL && i < collector->config.events.count; i++) {
		struct source_time time;

		if (ops->event_time(collector->source, i, &time) < 0)
			continue;
		if (time.running_ns > time.enabled_ns)
			time.running_ns = time.enabled_ns; /* not read at the same time */
		collector->time[i] = time;
		collector->time_known |= 1U << i;
	}
}

static uint64_t since(uint64_t now, uint64_t base)
{
	return now > base ? now - base : 0;
}

int collector_event_time(struct collector *collector, size_t event, struct source_time *time)
{
	const struct source_ops *ops = collector->source->ops;
	const struct source_time *base = &collector->base_time[event];
	int rc = -ENODATA;

	if (ops->event_time != NULL)
		rc = ops->event_time(collector->source, event, time);
	if (rc < 0)
		return rc;
	time->enabled_ns = since(time->enabled_ns, base->enabled_ns);
	time->running_ns = since(time->running_ns, base->running_ns);
	return 0;
}

static int times_write(struct collector *collector, struct error *err)
{
	uint32_t i;
	int rc = 0;

	times_read(collector);
	for (i = 0; rc == 0 && i < collector->config.events.count; i++) {
		const struct source_time *time = &collector->time[i];
		const struct source_time *base = &collector->base_time[i];
		uint64_t enabled_ns = since(time->enabled_ns, base->enabled_ns);
		uint64_t running_ns = since(time->running_ns, base->running_ns);

		if (!(collector->time_known & 1U << i))
			continue;
		rc = profile_writer_event_time(collector->writer, i, enabled_ns,
					       running_ns < enabled_ns ? running_ns : enabled_ns,
					       err);
	}
	return rc;
}

void collector_counters_clock(struct collector *collector)
{
	const struct event_list *events = &collector->config.events;

	for (size_t i = 0; i < events->count; i++) {
		if (event_is_clock(&events->event[i])) {
			core_clock_note(&collector->core_clock, core_clock_measure());
			return;
		}
	}
}

void collector_command_set(struct collector *collector, const struct counter_set *counts)
{
	collector->command = *counts;
}

void collector_counters_base(struct collector *collector)
{
	counters_read(collector, &collector->base, &collector->base_interrupts);
	times_read(collector);
	memcpy(collector->base_time, collector->time, sizeof(collector->base_time));
}

void collector_counters_resume(struct collector *collector, uint64_t lost, bool times)
{
	struct counter_set *base = &collector->base;
	uint64_t settled;

	counters_read(collector, base, &settled);
	collector->base_interrupts = settled - accumulate_held(collector->accumulate) - lost;
	if (has_edges(collector))
		counter_set_put(base, "stat", "edges_handed",
				collector->edges_handed - edge_accumulate_held(collector->edges));
	collector->replaced = lost;
	if (!times)
		return;
	times_read(collector);
	memcpy(collector->base_time, collector->time, sizeof(collector->base_time));
}

int collector_counters_write(struct collector *collector, const struct collector_rest *rest,
			     struct error *err)
{
	struct counter_set tally;
	uint64_t interrupts;
	int rc;

	collector_counters_epoch(collector, &tally, &interrupts);
	throttling_report(collector, &tally);
	counter_set_put(&tally, "loss", "pending", 0);
	counter_set_put(&tally, "loss", rest->loss, rest->samples);
	if (has_edges(collector)) {
		bool pending = strcmp(rest->loss, "pending") == 0;

		counter_set_put(&tally, "stat", "edges_pending", pending ? rest->edges : 0);
		counter_set_put(&tally, "stat", "edges_storage", pending ? 0 : rest->edges);
	}
	collector->accounting = interrupts - rest->samples;
	rc = collector_slices_write(collector, &tally, interrupts, rest, err);
	if (rc < 0)
		return rc;
	rc = profile_writer_totals(collector->writer, collector_counters_now(collector), interrupts,
				   tally.counter, tally.count, err);
	return rc == 0 ? times_write(collector, err) : rc;
}
