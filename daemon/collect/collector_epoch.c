// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/collector_epoch.h"

#include <stdio.h>
#include <string.h>

#include "daemon/collect/collector_counters.h"
#include "daemon/collect/collector_merge.h"
#include "daemon/collect/collector_slices.h"
#include "daemon/collect/matcher.h"
#include "daemon/collect/merge.h"
#include "daemon/collect/footprint_store.h"
#include "daemon/collect/pair_store.h"
#include "daemon/collect/region_store.h"
#include "daemon/collect/stack_store.h"
#include "daemon/collect/stack_unwinder.h"
#include "daemon/collect/thread_store.h"
#include "daemon/collect/rate_limit.h"
#include "db/profile_write.h"
#include "lib/clock.h"

/*
 * Return the end of the current epoch, by its own clock. The clocks of both epochs are not read at
 * the same time, so that the end may seem to be later than @start_ns, the start of the next epoch.
 */
static int64_t epoch_end(const struct collector *collector, int64_t start_ns)
{
	int64_t end_ns = collector_counters_now(collector);
	bool is_set = end_ns - start_ns > (int64_t)NS_PER_SECOND;

	return end_ns > start_ns && !is_set ? start_ns : end_ns;
}

int collector_epoch_begin_at(struct collector *collector, int64_t start_ns, uint64_t boot_ns,
			     struct error *err)
{
	const struct event_list *list = &collector->config.events;
	struct profile_event events[DCPI_EVENTS_MAX];
	struct profile_epoch epoch = {
		.start_ns = start_ns,
		.host = collector->host.name,
		.machine_id = collector->host.machine_id,
		.cpu_model = collector->host.cpu_model,
		.cpus = collector->host.cpus,
		.kernel = collector->host.kernel,
		.source = collector->source->ops->name,
		.source_reason = collector->reason,
		.label = collector->label,
	};
	uint32_t i;
	int rc;

	for (i = 0; i < list->count; i++) {
		events[i] = (struct profile_event){
			.number = i,
			.name = list->event[i].name,
			.unit = list->event[i].unit,
			.period_min = list->event[i].period_min,
			.period_max = list->event[i].period_max,
		};
	}
	rc = profile_writer_epoch_next(collector->writer, epoch_end(collector, start_ns), &epoch,
				       events, list->count, err);
	if (rc < 0)
		return rc;
	merge_epoch(collector->merge);
	pair_store_clear(collector->pairs);
	footprint_store_clear(collector->footprints);
	region_store_clear(collector->regions);
	if (collector->stacks != NULL) {
		stack_unwinder_clear(collector->stacks);
		thread_store_clear(collector->threads);
	}
	matcher_epoch(collector->matcher);
	collector->epoch_id = profile_writer_epoch_id(collector->writer);
	collector->epoch_start_ns = epoch.start_ns;
	collector->stored = 0;
	collector->accounted = 0;
	collector->replaced = 0;
	collector->given_up = 0;
	collector->core_clock = (struct core_clock){0};
	collector->drain_gap_ns = 0;
	collector->commit_ns = 0;
	collector_counters_clock(collector);
	collector->retention.epoch_begun_ns = boot_ns;
	collector_slices_epoch(collector);
	return 0;
}

int collector_epoch_begin(struct collector *collector, struct error *err)
{
	return collector_epoch_begin_at(collector, clock_real_ns(), clock_boot_ns(), err);
}

/* End one epoch and begin another, or neither: later merges belong to the next one. */
static int epoch_change(struct collector *collector, const char *label, struct error *err)
{
	char old[COLLECTOR_LABEL_BYTES];
	int rc;

	memcpy(old, collector->label, sizeof(old));
	if (label != collector->label)
		snprintf(collector->label, sizeof(collector->label), "%s", label);
	rc = collector_epoch_begin(collector, err);
	if (rc == 0)
		collector_counters_base(collector);
	else
		memcpy(collector->label, old, sizeof(old));
	return rc;
}

int collector_epoch_renew(struct collector *collector, const char *label, struct error *err)
{
	int rc = collector_merge_flush(collector, err);

	return rc < 0 ? rc : epoch_change(collector, label, err);
}

/* Change the events and the cost of a sample from which their periods were derived. */
static int configuration_change(struct collector *collector, const struct event_list *events,
				uint64_t sample_cost_ns)
{
	struct collector_config *config = &collector->config;
	struct event_list old = config->events;
	uint64_t old_cost_ns = config->sample_cost_ns;

	config->events = *events;
	config->sample_cost_ns = sample_cost_ns;
	if (epoch_change(collector, collector->label, NULL) < 0) {
		config->events = old;
		config->sample_cost_ns = old_cost_ns;
		return 0;
	}
	collector->source->ops->set_periods(collector->source, events->event);
	return 1;
}

/*
 * Begin an epoch with other periods, because an epoch has a single configuration. All samples with
 * the old periods are merged into the old epoch, with the source stopped. A merge beforehand keeps
 * the stop short. If the database cannot be written nothing changes.
 *
 * Return: 1: changed; 0: not now; -errno: the source did not start again.
 */
static int periods_change(struct collector *collector, const struct event_list *events,
			  uint64_t sample_cost_ns, struct error *err)
{
	const struct source_ops *ops = collector->source->ops;
	int changed = 0, rc;

	if (collector_merge_flush(collector, NULL) < 0)
		return 0;
	ops->stop(collector->source);
	collector->stopped = true;
	if (collector_merge_flush(collector, NULL) == 0)
		changed = configuration_change(collector, events, sample_cost_ns);
	rc = ops->start(collector->source, err);
	collector->stopped = rc < 0;
	return rc < 0 ? rc : changed;
}

/*
 * Longer periods are kept: a rate that alternates would be less useful. The periods of a target's
 * running children cannot be changed, so a target keeps its periods.
 */
int collector_epoch_follow_rates(struct collector *collector, struct error *err)
{
	const struct collector_config *config = &collector->config;
	struct event_list events = config->events;
	uint64_t limit = rate_limit_read(collector->limit_fd);
	int rc;

	if (limit == collector->limit || collector->merge_failing || config->target_pid != 0)
		return 0;
	if (rate_limit_apply(limit, &events, config->cpu_hz)) {
		rc = periods_change(collector, &events, config->sample_cost_ns, err);
		if (rc <= 0)
			return rc; /* a later tick tries again */
		collector->slowed = true;
	}
	collector->limit = limit;
	return 0;
}

int collector_epoch_follow_cost(struct collector *collector, struct error *err)
{
	struct collector_config *config = &collector->config;
	struct event_list events = config->events;
	uint64_t cost_ns = config->sample_cost_ns;
	int rc;

	if (config->overhead_ns == 0 || config->target_pid != 0 || collector->merge_failing ||
	    !overhead_watch_due(&collector->overhead, clock_monotonic_ns(), config->overhead_ns))
		return 0;
	if (overhead_again(&collector->overhead, &events, config->cpu_hz, config->overhead_percent,
			   &cost_ns) == 0) {
		config->sample_cost_ns = cost_ns;
		return 0;
	}
	rate_limit_apply(collector->limit, &events, config->cpu_hz);
	/* If that is not possible now, the next measurement repeats it. */
	rc = periods_change(collector, &events, cost_ns, err);
	return rc < 0 ? rc : 0;
}
