// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/accumulate.h"
#include "daemon/clock.h"
#include "daemon/host.h"
#include "daemon/image_table.h"
#include "daemon/log.h"
#include "daemon/matcher.h"
#include "daemon/merge.h"
#include "daemon/rate_limit.h"
#include "daemon/source_select.h"
#include "db/profile_write.h"
#include "lib/error.h"

#define MERGE_STEPS 6
#define LABEL_BYTES 256

/*
 * @handed, @entries: samples and entries handed over by the source
 * @base:             counters when the epoch began; @base_interrupts likewise
 * @stored:           samples merged in this epoch
 * @unknown:          of all merged, by reason
 * @unmerged_steps:   of this merge interval
 * @limit:            the kernel's on samples, when it was last looked at
 * @slowed:           periods were lengthened while sampling
 */
struct collector {
	struct collector_config config;
	struct host host;
	char reason[SOURCE_REASON_BYTES];
	char label[LABEL_BYTES];

	struct profile_writer *writer;
	struct source *source;
	struct matcher *matcher;
	struct accumulate *accumulate;
	struct merge *merge;

	uint64_t handed;
	uint64_t entries;
	uint64_t unknown[IMAGE_UNKNOWN_NR];
	uint64_t merges;
	uint64_t merge_failures;
	bool merge_failing;
	bool throttle_told;
	bool stopped;

	struct tally base;
	uint64_t base_interrupts;
	uint64_t stored;
	int64_t epoch_id;
	int64_t epoch_start_ns;

	uint64_t next_flush_ns;
	uint64_t next_merge_ns;
	unsigned int unmerged_steps;

	int limit_fd;
	uint64_t limit;
	bool slowed;
};

/* What the source asks for. */

static uint32_t generation_of(void *context, uint32_t pid, uint64_t time_ns)
{
	struct collector *collector = context;

	return matcher_generation(collector->matcher, pid, time_ns);
}

static void events_sync(void *context)
{
	struct collector *collector = context;

	matcher_events(collector->matcher);
}

/* Samples. */

static void sample_take(void *context, const struct dcpi_sample *sample)
{
	struct collector *collector = context;
	struct match match = matcher_match(collector->matcher, sample);
	uint32_t count = dcpi_tag_count(sample->tag);
	struct accumulate_key key = {
		.image = match.place.image,
		.event = dcpi_tag_event(sample->tag),
		.pid = match.by_process ? (int64_t)dcpi_tag_pid(sample->tag) : PROFILE_PID_ALL,
	};

	collector->handed += count;
	collector->entries++;
	accumulate_add(collector->accumulate, &key, match.command,
		       match.place.image == IMAGE_UNKNOWN ? (uint64_t)match.place.unknown
							  : match.place.offset,
		       count);
}

/*
 * Events first. A source with times leaves what is later than the events for
 * the next drain; one without has them read again itself (events_sync) between
 * taking samples and handing them over.
 */
static int drain(struct collector *collector, bool all, struct error *err)
{
	const struct source_sink sink = {.sample = sample_take, .context = collector};
	uint64_t until = matcher_events(collector->matcher);

	return collector->source->ops->drain(
		collector->source, all, collector->stopped ? UINT64_MAX : until, &sink, err);
}

int collector_drain(struct collector *collector, struct error *err)
{
	return drain(collector, false, err);
}

/* After a flush no sample of a process that ended before it can follow. */
static int flush(struct collector *collector, struct error *err)
{
	uint64_t start = clock_monotonic_ns();
	int rc = drain(collector, true, err);

	if (rc < 0)
		return rc;
	matcher_expire(collector->matcher, start);
	return 0;
}

/* Counters. */

static void source_counter_take(void *context, const char *group, const char *name, uint64_t count)
{
	tally_set(context, group, name, count);
}

/*
 * All counters since the start, and in @settled the samples that were handed
 * over or lost. Of a source at rest its own count of interrupts is taken, so
 * that a sample gone astray would show as a difference.
 */
static void counters_read(struct collector *collector, struct tally *tally, uint64_t *settled)
{
	uint64_t interrupts;
	int i;

	memset(tally, 0, sizeof(*tally));
	interrupts =
		collector->source->ops->counters(collector->source, source_counter_take, tally);
	*settled = collector->handed + tally_sum(tally, "loss");
	if (collector->stopped)
		*settled = interrupts;
	tally_set(tally, "loss", "memory", accumulate_refused(collector->accumulate));
	for (i = 0; i < IMAGE_UNKNOWN_NR; i++)
		tally_set(tally, "unknown", image_unknown_name((enum image_unknown)i),
			  collector->unknown[i]);
	tally_set(tally, "stat", "entries", collector->entries);
	tally_set(tally, "stat", "samples", collector->handed);
	matcher_counters(collector->matcher, tally);
	tally_set(tally, "stat", "merges", collector->merges);
	tally_set(tally, "stat", "merge_failures", collector->merge_failures);
}

static void epoch_counters(struct collector *collector, struct tally *tally, uint64_t *interrupts)
{
	uint64_t settled;

	counters_read(collector, tally, &settled);
	tally_subtract(tally, &collector->base);
	if (collector->config.sample_cost_ns > 0)
		tally_set(tally, "stat", "sample_cost_ns", collector->config.sample_cost_ns);
	*interrupts = settled - collector->base_interrupts;
}

/* Tell once of what makes a profile less true than it looks. */
static void throttling_tell(struct collector *collector, const struct tally *tally)
{
	if (collector->throttle_told || tally_get(tally, "stat", "throttled") == 0)
		return;
	collector->throttle_told = true;
	log_info("the kernel throttles sampling (limit now %llu samples a second)",
		 (unsigned long long)collector->limit);
}

/* Merging. */

static int totals_write(struct collector *collector, const char *loss, uint64_t lost,
			struct error *err)
{
	struct tally tally;
	uint64_t interrupts;

	epoch_counters(collector, &tally, &interrupts);
	throttling_tell(collector, &tally);
	tally_set(&tally, "loss", "pending", 0);
	tally_set(&tally, "loss", loss, lost);
	return profile_writer_totals(collector->writer, clock_real_ns(), interrupts, tally.counter,
				     tally.count, err);
}

static void unknown_add(struct collector *collector, const struct merge_result *result, bool undo)
{
	int i;

	for (i = 0; i < IMAGE_UNKNOWN_NR; i++)
		collector->unknown[i] += undo ? 0 - result->unknown[i] : result->unknown[i];
}

static int transaction(struct collector *collector, size_t bins, struct merge_result *result,
		       struct error *err)
{
	int rc, written;

	rc = profile_writer_begin(collector->writer, err);
	if (rc < 0)
		return rc;
	written = merge_bins(collector->merge, collector->accumulate, bins, result, err);
	rc = written;
	if (rc >= 0) {
		unknown_add(collector, result, false);
		rc = totals_write(collector, "pending",
				  accumulate_held(collector->accumulate) - result->samples, err);
		if (rc == 0)
			rc = profile_writer_commit(collector->writer, err);
		if (rc < 0)
			unknown_add(collector, result, true);
	}
	if (rc < 0) {
		profile_writer_rollback(collector->writer);
		merge_forget(collector->merge);
		return rc;
	}
	return written;
}

static int merge(struct collector *collector, size_t bins, struct error *err)
{
	struct error failure = {.message = ""};
	struct merge_result result = {.samples = 0};
	int written = transaction(collector, bins, &result, &failure);

	if (written < 0) {
		collector->merge_failures++;
		if (!collector->merge_failing)
			log_error("cannot merge, keeping samples in memory: %s", failure.message);
		collector->merge_failing = true;
		return error_set(err, -written, "%s", failure.message);
	}
	accumulate_drop(collector->accumulate, (size_t)written);
	collector->stored += result.samples;
	collector->merges++;
	if (collector->merge_failing)
		log_info("merging again");
	collector->merge_failing = false;
	return 0;
}

static int merge_all(struct collector *collector, struct error *err)
{
	return merge(collector, accumulate_bins(collector->accumulate), err);
}

/* A share of the bins, such that the last step of the interval takes the rest. */
static void merge_step(struct collector *collector)
{
	size_t bins = accumulate_bins(collector->accumulate);
	size_t steps = collector->unmerged_steps > 0 ? collector->unmerged_steps : 1;

	if (collector->unmerged_steps > 0)
		collector->unmerged_steps--;
	merge(collector, (bins + steps - 1) / steps, NULL);
}

static bool flush_due(const struct collector *collector, uint64_t now)
{
	return now >= collector->next_flush_ns || matcher_crowded(collector->matcher);
}

static int tick(struct collector *collector, struct error *err)
{
	uint64_t now = clock_monotonic_ns();
	int rc;

	matcher_refresh(collector->matcher);
	if (flush_due(collector, now)) {
		rc = flush(collector, err);
		collector->next_flush_ns = now + collector->config.merge_ns;
		collector->unmerged_steps = MERGE_STEPS;
	} else {
		rc = drain(collector, false, err);
	}
	if (rc == 0 && now >= collector->next_merge_ns) {
		merge_step(collector);
		collector->next_merge_ns = now + collector->config.merge_ns / MERGE_STEPS;
	}
	return rc;
}

int collector_flush(struct collector *collector, struct error *err)
{
	int rc = flush(collector, err);

	return rc < 0 ? rc : merge_all(collector, err);
}

/* Epochs. */

static int epoch_begin(struct collector *collector, struct error *err)
{
	const struct event_list *list = &collector->config.events;
	struct profile_event events[DCPI_EVENTS_MAX];
	struct profile_epoch epoch = {
		.start_ns = clock_real_ns(),
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
	merge_forget(collector->merge);
	collector->epoch_start_ns = epoch.start_ns;
	collector->stored = 0;
	rc = profile_writer_epoch_begin(collector->writer, &epoch, events, list->count, err);
	collector->epoch_id = profile_writer_epoch_id(collector->writer);
	return rc;
}

/* A lasting end, then a beginning: what is merged from here on is the next epoch's. */
static int epoch_change(struct collector *collector, const char *label, struct error *err)
{
	int rc = profile_writer_epoch_end(collector->writer, clock_real_ns(), err);

	if (rc < 0)
		return rc;
	counters_read(collector, &collector->base, &collector->base_interrupts);
	if (label != collector->label)
		snprintf(collector->label, sizeof(collector->label), "%s", label);
	return epoch_begin(collector, err);
}

int collector_epoch(struct collector *collector, const char *label, struct error *err)
{
	int rc = collector_flush(collector, err);

	return rc < 0 ? rc : epoch_change(collector, label, err);
}

/* Rates. */

/*
 * An epoch has one configuration: with the source at rest, all that was sampled
 * with the old periods is merged into the old epoch. Most of it is before, so
 * that the rest is short. A merge that fails leaves things as they are.
 */
static int periods_change(struct collector *collector, const struct event_list *events,
			  struct error *err)
{
	const struct source_ops *ops = collector->source->ops;
	int rc = 0;

	if (collector_flush(collector, NULL) < 0)
		return 0;
	ops->stop(collector->source);
	collector->stopped = true;
	if (collector_flush(collector, NULL) == 0) {
		collector->config.events = *events;
		collector->slowed = true;
		ops->set_periods(collector->source, events->event);
		rc = epoch_change(collector, collector->label, err);
	}
	if (rc == 0)
		rc = ops->start(collector->source, err);
	collector->stopped = rc < 0;
	return rc;
}

/*
 * Longer periods stay: a rate that went up and down again would tell less. Those
 * of a target's running children cannot be changed: it is sampled as it was.
 */
static int rates_follow(struct collector *collector, struct error *err)
{
	struct event_list events = collector->config.events;
	uint64_t limit = rate_limit_read(collector->limit_fd);
	int rc = 0;

	if (limit == collector->limit || collector->merge_failing ||
	    collector->config.target_pid != 0)
		return 0;
	if (rate_limit_apply(limit, &events, collector->config.cpu_hz))
		rc = periods_change(collector, &events, err);
	if (!collector->merge_failing)
		collector->limit = limit; /* else a later tick tries again */
	return rc;
}

int collector_tick(struct collector *collector, struct error *err)
{
	int rc = tick(collector, err);

	return rc < 0 ? rc : rates_follow(collector, err);
}

bool collector_slowed(const struct collector *collector)
{
	return collector->slowed;
}

/* The last word about samples that no merge will take any more. */
static void samples_give_up(struct collector *collector)
{
	uint64_t held = accumulate_held(collector->accumulate);
	int rc;

	log_error("%llu samples are lost", (unsigned long long)held);
	rc = profile_writer_begin(collector->writer, NULL);
	if (rc == 0)
		rc = totals_write(collector, "storage", held, NULL);
	if (rc == 0)
		rc = profile_writer_commit(collector->writer, NULL);
	if (rc < 0)
		profile_writer_rollback(collector->writer);
	accumulate_drop(collector->accumulate, accumulate_bins(collector->accumulate));
}

int collector_stop(struct collector *collector, struct error *err)
{
	int rc;

	if (collector->stopped)
		return 0;
	collector->source->ops->stop(collector->source);
	collector->stopped = true;
	rc = collector_flush(collector, err);
	if (rc < 0)
		samples_give_up(collector);
	if (profile_writer_epoch_end(collector->writer, clock_real_ns(), rc == 0 ? err : NULL) <
		    0 &&
	    rc == 0)
		rc = -EIO;
	return rc;
}

/* Opening and closing. */

static int source_open(struct collector *collector, struct error *err)
{
	const struct collector_config *config = &collector->config;
	struct source_config source = {
		.events = config->events.event,
		.event_count = config->events.count,
		.table_entries = config->table_entries,
		.buffer_entries = config->buffer_entries,
		.target_pid = config->target_pid,
		.user_only = config->user_only,
		.record = config->record,
		.replay = config->replay,
		.generation = generation_of,
		.sync = events_sync,
		.context = collector,
	};
	int rc = source_select_open(&collector->source, config->source, &source, collector->reason,
				    err);

	if (rc == 0)
		log_info("source %s (%s)", collector->source->ops->name, collector->reason);
	return rc;
}

static int parts_open(struct collector *collector, struct error *err)
{
	const struct collector_config *config = &collector->config;
	struct matcher_config matcher = {
		.per_process = config->per_process,
		.target_pid = config->target_pid,
		.user_only = config->user_only,
	};
	int rc;

	collector->limit_fd = rate_limit_open();
	collector->limit = rate_limit_read(collector->limit_fd);
	rate_limit_apply(collector->limit, &collector->config.events, config->cpu_hz);
	rc = profile_writer_open(&collector->writer, config->db, err);
	if (rc == 0)
		rc = source_open(collector, err);
	matcher.source = collector->source;
	if (rc == 0)
		rc = matcher_open(&collector->matcher, &matcher, err);
	if (rc == 0)
		rc = accumulate_create(&collector->accumulate, config->memory_limit, err);
	if (rc == 0)
		rc = merge_create(&collector->merge, collector->writer,
				  matcher_images(collector->matcher),
				  matcher_kernel(collector->matcher), err);
	return rc;
}

int collector_open(struct collector **ret, const struct collector_config *config, struct error *err)
{
	struct collector *collector = calloc(1, sizeof(*collector));
	int rc;

	if (collector == NULL)
		return error_set(err, ENOMEM, "out of memory");
	collector->config = *config;
	snprintf(collector->label, sizeof(collector->label), "%s",
		 config->label != NULL ? config->label : "");
	host_describe(&collector->host);
	rc = parts_open(collector, err);
	if (rc < 0) {
		collector_close(collector);
		return rc;
	}
	*ret = collector;
	return 0;
}

int collector_start(struct collector *collector, struct error *err)
{
	uint64_t now = clock_monotonic_ns();
	int rc = epoch_begin(collector, err);

	if (rc < 0)
		return rc;
	collector->next_flush_ns = now + collector->config.merge_ns;
	collector->next_merge_ns = now + collector->config.merge_ns / MERGE_STEPS;
	collector->unmerged_steps = MERGE_STEPS - 1;
	return collector->source->ops->start(collector->source, err);
}

void collector_poll_fds(struct collector *collector, int fds[2])
{
	fds[0] = collector->source->ops->poll_fd(collector->source);
	fds[1] = matcher_poll_fd(collector->matcher);
}

void collector_close(struct collector *collector)
{
	if (collector == NULL)
		return;
	merge_destroy(collector->merge);
	accumulate_destroy(collector->accumulate);
	matcher_close(collector->matcher);
	if (collector->source != NULL)
		collector->source->ops->close(collector->source);
	profile_writer_close(collector->writer);
	if (collector->limit_fd >= 0)
		close(collector->limit_fd);
	free(collector);
}

void collector_status(struct collector *collector, struct collector_status *status)
{
	struct tally ignored = {.count = 0};
	size_t map_bytes = 0;

	memset(status, 0, sizeof(*status));
	status->taken =
		collector->source->ops->counters(collector->source, source_counter_take, &ignored);
	status->source = collector->source->ops->name;
	status->reason = collector->reason;
	status->events = &collector->config.events;
	status->epoch = collector->epoch_id;
	status->start_ns = collector->epoch_start_ns;
	epoch_counters(collector, &status->counters, &status->interrupts);
	tally_set(&status->counters, "loss", "pending", accumulate_held(collector->accumulate));
	status->stored = collector->stored;
	status->unknown = tally_sum(&status->counters, "unknown");
	status->samples = collector->handed;
	status->entries = collector->entries;
	status->images = image_table_count(matcher_images(collector->matcher));
	status->processes = matcher_processes(collector->matcher, &map_bytes);
	status->memory_bytes = accumulate_bytes(collector->accumulate) + map_bytes;
}
