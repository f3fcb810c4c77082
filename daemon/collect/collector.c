// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/collector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/code/code_capture.h"
#include "daemon/collect/accumulate.h"
#include "daemon/collect/collector_cost.h"
#include "daemon/collect/collector_counters.h"
#include "daemon/collect/collector_drain.h"
#include "daemon/collect/collector_epoch.h"
#include "daemon/collect/collector_merge.h"
#include "daemon/collect/collector_retention.h"
#include "daemon/collect/collector_slices.h"
#include "daemon/collect/collector_stacks.h"
#include "daemon/collect/collector_state.h"
#include "daemon/collect/data_spaces.h"
#include "daemon/collect/edge_accumulate.h"
#include "daemon/collect/matcher.h"
#include "daemon/collect/merge.h"
#include "daemon/collect/footprint_store.h"
#include "daemon/collect/image_names.h"
#include "daemon/collect/pair_store.h"
#include "daemon/collect/region_store.h"
#include "daemon/collect/stack_unwinder.h"
#include "daemon/collect/thread_store.h"
#include "daemon/collect/rate_limit.h"
#include "daemon/image/image_table.h"
#include "daemon/source/off_cpu.h"
#include "db/profile_write.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/image_store.h"
#include "lib/near_names.h"
#include "lib/path_match.h"

/* Slow enough not to disturb other programs, fast enough to finish copies before an upgrade. */
#define IMAGE_BYTES_PER_SECOND (8U << 20)
/* As COLLECTOR_LOCKED_MS, for a collector that has stopped. */
#define LOCKED_STOPPED_MS 5000
/* Maximum time that stopping waits for the contents of other users' files. */
#define SETTLE_NS (2 * NS_PER_SECOND)
/* CPU time for reading symbols, in 1/1000 of a CPU. */
#define NAMES_PERMILLE 1
/* Maximum time that sampling waits for the first scan of all processes. */
#define SCAN_FIRST_NS (3 * NS_PER_SECOND)

/* Callbacks of the source. */

static uint32_t generation_of(void *context, uint32_t pid, uint64_t time_ns)
{
	struct collector *collector = context;

	return matcher_generation(collector->matcher, pid, time_ns);
}

static bool is_divided(void *context, uint32_t pid)
{
	const struct collector *collector = context;

	return match_cache_is_divided(matcher_cache(collector->matcher), pid);
}

static uint32_t changes_of(void *context, uint32_t pid, uint64_t *since_ns)
{
	const struct collector *collector = context;

	return matcher_changes(collector->matcher, pid, since_ns);
}

static void events_sync(void *context)
{
	struct collector *collector = context;

	matcher_events(collector->matcher);
}

/* Running. */

static int sampling_start(struct collector *collector, struct error *err)
{
	int rc = collector->source->ops->start(collector->source, err);

	if (rc == 0 && collector->off_cpu != NULL)
		rc = off_cpu_start(collector->off_cpu, err);
	collector->sampling = rc == 0;
	return rc;
}

/* Start sampling when all processes are known, or reading them takes too long. */
static int sampling_follow(struct collector *collector, struct error *err)
{
	if (collector->sampling || collector->ended ||
	    (matcher_scanning(collector->matcher) &&
	     clock_monotonic_ns() < collector->begun_ns + SCAN_FIRST_NS))
		return 0;
	return sampling_start(collector, err);
}

static bool flush_due(const struct collector *collector, uint64_t now)
{
	return now >= collector->next_flush_ns || matcher_crowded(collector->matcher);
}

static int tick(struct collector *collector, struct error *err)
{
	uint64_t now = clock_monotonic_ns();
	uint64_t merge_ns = collector->config.merge_ns * collector_pace(collector);
	int rc;

	matcher_refresh(collector->matcher);
	if (collector->names != NULL)
		image_names_step(collector->names);
	archive_policy_tick(collector->policy, now);
	if (flush_due(collector, now)) {
		rc = collector_slices_drain(collector, err);
		if (rc == 0)
			rc = sampling_follow(collector, err);
		collector->next_flush_ns = now + merge_ns;
		collector->unmerged_steps = collector_merge_steps(collector);
	} else if (collector_slices_due(collector)) {
		rc = collector_slices_drain(collector, err);
		if (rc == 0)
			rc = sampling_follow(collector, err);
	} else {
		rc = collector_drain(collector, err);
	}
	if (rc == 0 && now >= collector->next_merge_ns && collector_merge_pays(collector)) {
		collector_merge_step(collector);
		/*
		 * Measured from now: otherwise steps that were delayed would follow each other
		 * without a pause.
		 */
		collector->next_merge_ns = clock_monotonic_ns() + merge_ns / COLLECTOR_MERGE_STEPS;
	}
	return rc;
}

int collector_flush(struct collector *collector, struct error *err)
{
	return collector_merge_flush(collector, err);
}

int collector_epoch(struct collector *collector, const char *label, struct error *err)
{
	return collector_epoch_renew(collector, label, err);
}

int collector_drain(struct collector *collector, struct error *err)
{
	int rc = collector_drain_ready(collector, err);

	return rc == 0 ? sampling_follow(collector, err) : rc;
}

bool collector_is_busy(const struct collector *collector)
{
	return !collector->sampling || matcher_scanning(collector->matcher);
}

int collector_tick(struct collector *collector, struct error *err)
{
	int rc = tick(collector, err);

	if (rc == 0)
		rc = collector_epoch_follow_rates(collector, err);
	if (rc == 0)
		rc = collector_epoch_follow_cost(collector, err);
	if (rc == 0)
		collector_retention_tick(collector);
	collector_cost_follow(collector);
	return rc;
}

uint32_t collector_pace(const struct collector *collector)
{
	return collector->pace > 0 ? collector->pace : 1;
}

bool collector_images_crowded(const struct collector *collector)
{
	return image_table_crowded(matcher_images(collector->matcher)) &&
	       !collector->merge_failing && collector->config.replay == NULL;
}

void collector_divide(struct collector *collector)
{
	matcher_divide(collector->matcher);
}

bool collector_find_image(const struct collector *collector, struct near_names *near)
{
	const struct image_table *images = matcher_images(collector->matcher);
	const char *pattern = near->wanted;

	for (uint32_t i = 0; i < image_table_count(images); i++) {
		const char *path = image_table_get(images, i)->path;
		const char *slash = strchr(pattern, '/') == NULL ? strrchr(path, '/') : NULL;

		if (path_match(path, pattern))
			return true;
		near_names_add(near, slash != NULL ? slash + 1 : path);
	}
	return false;
}

bool collector_slowed(const struct collector *collector)
{
	return collector->slowed;
}

/* From now on no drain is pending, so waiting for a locked database does no harm. */
static void collector_end(struct collector *collector)
{
	collector->ended = true;
	if (collector->sampling)
		collector->source->ops->stop(collector->source);
	collector->stopped = true;
	profile_writer_wait(collector->writer, LOCKED_STOPPED_MS);
}

int collector_discard(struct collector *collector, struct error *err)
{
	if (collector->ended)
		return 0;
	collector_end(collector);
	return profile_writer_epoch_drop(collector->writer, err);
}

int collector_stop(struct collector *collector, struct error *err)
{
	int rc;

	if (collector->ended)
		return 0;
	collector_end(collector);
	image_table_settle(matcher_images(collector->matcher), SETTLE_NS);
	rc = collector_flush(collector, err);
	if (rc < 0)
		collector_merge_give_up(collector);
	else
		collector_merge_names(collector);
	if (profile_writer_epoch_end(collector->writer, collector_counters_now(collector),
				     rc == 0 ? err : NULL) < 0 &&
	    rc == 0)
		rc = -EIO;
	return rc;
}

/* Opening and closing. */

/* Warn about requests that this source does not support. */
static void edges_report(const struct collector *collector)
{
	const struct source_ops *ops = collector->source->ops;

	if (collector->config.probe_permille > 0 && !ops->probes)
		log_warning("source '%s' does not support probes (probe_permille)", ops->name);
	if (collector->config.double_every > 0 && !ops->doubles)
		log_warning("source '%s' does not support double samples (double_every)",
			    ops->name);
	if (collector->config.handler_times && !ops->own_handler)
		log_warning("source '%s' does not support handler times (handler_times)",
			    ops->name);
}

static int source_open(struct collector *collector, struct error *err)
{
	const struct collector_config *config = &collector->config;
	struct source_config source = {
		.events = config->events.event,
		.event_count = config->events.count,
		.table_entries = config->table_entries,
		.buffer_entries = config->buffer_entries,
		.target_pid = config->target_pid,
		.only_pid = config->only_pid,
		.user_only = config->user_only,
		.branch_every = config->branch_every,
		.probe_permille = config->probe_permille,
		.stack_every = config->stack_every,
		.double_every = config->double_every,
		.double_period = config->double_every > 0 ? config->double_period : 0,
		.handler_times = config->handler_times,
		.record = config->record,
		.replay = config->replay,
		.generation = generation_of,
		.divided = is_divided,
		.changes = changes_of,
		.sync = events_sync,
		.context = collector,
	};
	int rc = source_select_open(&collector->source, config->source, &source, collector->reason,
				    err);

	if (rc == 0)
		edges_report(collector);
	return rc;
}

/* The method of image events is reported together with the source, in the log and in the epochs. */
static void reason_complete(struct collector *collector)
{
	size_t used = strlen(collector->reason);

	matcher_describe(collector->matcher, collector->reason + used,
			 sizeof(collector->reason) - used);
	log_info("source %s (%s)", collector->source->ops->name, collector->reason);
}

/*
 * Edges have separate memory, so that they never cause samples to be refused. Some is reserved even
 * if edges were not requested, since a recorded trace may contain some.
 */
static size_t edges_memory(const struct collector_config *config)
{
	bool asked = config->branch_every > 0 || config->double_every > 0;

	return config->memory_limit / (asked ? 4 : 16);
}

/* The image archive is optional: a failure is logged, and sampling continues without it. */
static void policy_open(struct collector *collector)
{
	const struct collector_config *config = &collector->config;
	_cleanup_free_ char *directory = image_store_directory(config->db);
	struct archive_policy_config policy = {
		.copier =
			{
				.directory = directory,
				.bytes_max = config->image_store_bytes,
				.bytes_per_second = IMAGE_BYTES_PER_SECOND,
				.group = -1,
			},
		.patterns = config->image_store,
		.pin_ns = 2 * config->merge_ns,
	};
	struct stat status;
	struct error err;

	if (config->image_store_bytes == 0 || config->replay != NULL || directory == NULL)
		return;
	if (stat(config->db, &status) == 0)
		policy.copier.group = (int64_t)status.st_gid;
	if (archive_policy_open(&collector->policy, &policy, &err) < 0)
		log_error("images are not stored: %s", err.message);
}

/* A recording may be from another kernel. */
static int capture_open(struct collector *collector, struct error *err)
{
	struct kernel_images *kernel = matcher_kernel(collector->matcher);
	int rc;

	if (kernel == NULL || collector->config.replay != NULL)
		return 0;
	rc = code_capture_create(&collector->capture, kernel, err);
	if (rc == 0)
		merge_capture(collector->merge, collector->capture);
	return rc;
}

/* A recording may be from another machine. A target ends soon, and its names are needed then. */
static int names_open(struct collector *collector, struct error *err)
{
	const struct collector_config *config = &collector->config;
	bool is_one = config->target_pid != 0 || config->only_pid != 0;

	if (!config->symbols || config->replay != NULL)
		return 0;
	collector->names = image_names_create(is_one ? 0 : NAMES_PERMILLE, is_one);
	if (collector->names == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	merge_names(collector->merge, collector->names);
	return 0;
}

static int parts_open(struct collector *collector, struct error *err)
{
	const struct collector_config *config = &collector->config;
	struct matcher_config matcher = {
		.image_events = config->image_events != NULL ? config->image_events : "auto",
		.audit_socket = config->audit_socket,
		.per_process = config->per_process,
		.per_unit = config->per_unit,
		.units = config->units,
		.target_pid = config->target_pid,
		.user_only = config->user_only,
	};
	size_t for_edges = edges_memory(config);
	int rc;

	collector->limit_fd = rate_limit_open();
	collector->limit = rate_limit_read(collector->limit_fd);
	rate_limit_apply(collector->limit, &collector->config.events, config->cpu_hz);
	rc = profile_writer_open(&collector->writer, config->db, err);
	if (rc == 0)
		profile_writer_reserve(collector->writer);
	if (rc == 0)
		rc = source_open(collector, err);
	if (rc == 0)
		policy_open(collector);
	matcher.source = collector->source;
	matcher.policy = collector->policy;
	if (rc == 0)
		rc = matcher_open(&collector->matcher, &matcher, err);
	if (rc == 0)
		reason_complete(collector);
	if (rc == 0)
		rc = accumulate_create(&collector->accumulate, config->memory_limit - for_edges,
				       err);
	if (rc == 0)
		rc = edge_accumulate_create(&collector->edges, for_edges, err);
	if (rc == 0) {
		collector->pairs = pair_store_create();
		collector->footprints = footprint_store_create();
		collector->regions = region_store_create();
		collector->spaces = data_spaces_create();
		if (collector->pairs == NULL || collector->footprints == NULL ||
		    collector->regions == NULL || collector->spaces == NULL)
			rc = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	if (rc == 0)
		rc = collector_stacks_open(collector, generation_of, events_sync, err);
	if (rc == 0)
		rc = merge_create(
			&collector->merge, collector->writer, matcher_images(collector->matcher),
			matcher_kernel(collector->matcher), matcher_labels(collector->matcher),
			matcher_jit(collector->matcher), err);
	if (rc == 0)
		rc = capture_open(collector, err);
	if (rc == 0)
		rc = names_open(collector, err);
	return rc;
}

int collector_open(struct collector **ret, const struct collector_config *config, struct error *err)
{
	struct collector *collector = calloc(1, sizeof(*collector));
	int rc;

	if (collector == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
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

/* Without the log, which is only temporarily part of the database. */
static int64_t db_bytes(const struct collector *collector)
{
	struct stat st;

	return stat(collector->config.db, &st) == 0 ? st.st_size : 0;
}

int collector_start(struct collector *collector, struct error *err)
{
	uint64_t now = clock_monotonic_ns();
	int rc = collector_epoch_begin(collector, err);

	if (rc < 0)
		return rc;
	profile_writer_wait(collector->writer, COLLECTOR_LOCKED_MS);
	collector->next_flush_ns = now + collector->config.merge_ns;
	collector->next_merge_ns = now + collector->config.merge_ns / COLLECTOR_MERGE_STEPS;
	collector->unmerged_steps = 1;
	collector->begun_ns = now;
	collector->once_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - collector->config.begun_cpu_ns;
	collector->drained_ns = now;
	collector->begun_bytes = db_bytes(collector);
	while (!collector->config.scan_in_steps && matcher_scanning(collector->matcher))
		matcher_events(collector->matcher);
	return sampling_follow(collector, err);
}

void collector_poll_fds(struct collector *collector, int fds[COLLECTOR_POLL_FDS])
{
	fds[0] = collector->source->ops->poll_fd(collector->source);
	fds[1] = matcher_poll_fd(collector->matcher);
	fds[2] = collector->off_cpu != NULL ? off_cpu_fd(collector->off_cpu) : -1;
}

void collector_close(struct collector *collector)
{
	if (collector == NULL)
		return;
	merge_destroy(collector->merge);
	code_capture_destroy(collector->capture);
	image_names_destroy(collector->names);
	accumulate_destroy(collector->accumulate);
	edge_accumulate_destroy(collector->edges);
	pair_store_destroy(collector->pairs);
	footprint_store_destroy(collector->footprints);
	region_store_destroy(collector->regions);
	data_spaces_destroy(collector->spaces);
	stack_unwinder_destroy(collector->stacks);
	thread_store_destroy(collector->threads);
	off_cpu_close(collector->off_cpu);
	matcher_close(collector->matcher);
	archive_policy_close(collector->policy);
	if (collector->source != NULL)
		collector->source->ops->close(collector->source);
	profile_writer_close(collector->writer);
	if (collector->limit_fd >= 0)
		close(collector->limit_fd);
	free(collector);
}

void collector_status(struct collector *collector, struct collector_status *status)
{
	size_t map_bytes = 0;

	memset(status, 0, sizeof(*status));
	status->taken = collector_counters_taken(collector);
	status->taken_epoch = status->taken - collector->base_interrupts;
	status->source = collector->source->ops->name;
	status->uptime_ns = clock_monotonic_ns() - collector->begun_ns;
	status->cpus = collector->host.cpus;
	status->sample_cost_ns = collector->config.sample_cost_ns;
	status->expected_permille =
		overhead_expected(&collector->config.events, collector->config.cpu_hz,
				  collector->config.sample_cost_ns);
	status->sampling = collector->sampling;
	status->merge_failing = collector->merge_failing;
	status->grown_bytes = db_bytes(collector) - collector->begun_bytes;
	status->reason = collector->reason;
	status->events = &collector->config.events;
	status->epoch = collector->epoch_id;
	status->label = collector->label;
	status->start_ns = collector->epoch_start_ns;
	collector_counters_epoch(collector, &status->counters, &status->interrupts);
	counter_set_put(&status->counters, "loss", "pending",
			accumulate_held(collector->accumulate));
	if (collector->given_up > 0)
		counter_set_put(&status->counters, "loss", "storage", collector->given_up);
	if (edge_accumulate_held(collector->edges) > 0)
		counter_set_put(&status->counters, "stat", "edges_pending",
				edge_accumulate_held(collector->edges));
	status->stored = collector->stored;
	status->unknown = counter_set_sum(&status->counters, "unknown");
	status->samples = collector->handed;
	status->entries = collector->entries;
	status->images = image_table_used(matcher_images(collector->matcher));
	status->processes = matcher_processes(collector->matcher, &map_bytes);
	status->memory_bytes =
		accumulate_bytes(collector->accumulate) + edge_accumulate_bytes(collector->edges) +
		pair_store_bytes(collector->pairs) + footprint_store_bytes(collector->footprints) +
		region_store_bytes(collector->regions) + data_spaces_bytes(collector->spaces) +
		map_bytes;
	if (collector->stacks != NULL)
		status->memory_bytes += stack_unwinder_bytes(collector->stacks) +
					thread_store_bytes(collector->threads);
	status->retention = collector->retention.status;
	status->quota = matcher_quota(collector->matcher);
	status->keeps_images = collector->policy != NULL;
	archive_policy_status(collector->policy, &status->store);
}

bool collector_images_finish(struct collector *collector)
{
	struct archive_policy_status status;
	bool requested =
		archive_policy_finish(collector->policy, matcher_images(collector->matcher));

	archive_policy_tick(collector->policy, clock_monotonic_ns());
	archive_policy_status(collector->policy, &status);
	return requested && status.copier.waiting == 0;
}

uint64_t collector_samples_gone(struct collector *collector)
{
	archive_policy_tick(collector->policy, clock_monotonic_ns());
	return archive_policy_gone(collector->policy, matcher_images(collector->matcher));
}
