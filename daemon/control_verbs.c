// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/control_verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "daemon/archive/per_process.h"
#include "daemon/base/log.h"
#include "daemon/collect/collector.h"
#include "daemon/config.h"
#include "daemon/control.h"
#include "daemon/image/quota.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/near_names.h"
#include "lib/path_match.h"

static void number(struct control_reply *reply, const char *key, uint64_t value)
{
	control_reply_value(reply, key, "%llu", (unsigned long long)value);
}

static void events_reply(struct control_reply *reply, const struct event_list *events)
{
	char key[32];
	size_t i;

	for (i = 0; i < events->count; i++) {
		snprintf(key, sizeof(key), "event.%zu", i);
		control_reply_value(reply, key, "%s:%llu-%llu %s", events->event[i].name,
				    (unsigned long long)events->event[i].period_min,
				    (unsigned long long)events->event[i].period_max,
				    events->event[i].unit);
	}
}

static void time_reply(struct control_reply *reply, const char *key, int64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_SECOND);
	char text[32] = "";
	struct tm parts;

	if (gmtime_r(&seconds, &parts) != NULL)
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
	control_reply_value(reply, key, "%s", text);
}

/* The image archive, as "store.NAME". */
static void store_reply(struct control_reply *reply, const struct archive_policy_status *store)
{
	number(reply, "store.images", store->copier.files);
	number(reply, "store.bytes", store->copier.bytes);
	number(reply, "store.waiting", store->copier.waiting);
	number(reply, "store.pinned", store->pinned);
	number(reply, "store.copied", store->copier.copied);
	number(reply, "store.evicted", store->copier.evicted);
	number(reply, "store.failed", store->copier.failed);
	number(reply, "store.lost", store->lost);
	number(reply, "store.ambiguous", store->ambiguous);
	number(reply, "store.unreadable", store->unreadable);
}

/* The daemon's own resources. */
static void self_reply(struct control_reply *reply)
{
	struct rusage usage;
	unsigned long pages = 0;
	_cleanup_file_ FILE *file = fopen("/proc/self/statm", "re");

	if (file != NULL && fscanf(file, "%*u %lu", &pages) == 1)
		number(reply, "rss_bytes", (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE));
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		number(reply, "cpu_ms",
		       (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
			       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000);
}

/*
 * The limits that users have reached since the start, and for each limit the user with the most
 * refusals.
 */
static void limits_reply(struct control_reply *reply, const struct quota *quota)
{
	char key[64];
	int i;

	for (i = 0; i < QUOTA_LIMITS; i++) {
		const struct quota_user *worst = quota_worst(quota, (enum quota_limit)i);

		if (worst == NULL)
			continue;
		snprintf(key, sizeof(key), "limit.%s", quota_limit_name((enum quota_limit)i));
		number(reply, key, quota->refused[i]);
		snprintf(key, sizeof(key), "limit_user.%s", quota_limit_name((enum quota_limit)i));
		if (worst->uid == QUOTA_UID_NONE)
			control_reply_value(reply, key, "unknown users");
		else
			control_reply_value(reply, key, "uid %u", worst->uid);
	}
}

/* Figures about the health of the daemon, which dcpictl describes in words. */
static void health_reply(const struct collector_status *status, struct control_reply *reply)
{
	double seconds = (double)status->uptime_ns / NS_PER_SECOND;
	const char *error;
	uint64_t error_ns;
	char key[64];
	size_t i;

	number(reply, "uptime_s", status->uptime_ns / NS_PER_SECOND);
	number(reply, "cpus", status->cpus);
	if (seconds >= 1 && status->cpus > 0)
		control_reply_value(reply, "rate", "%.1f",
				    (double)status->taken / seconds / status->cpus);
	number(reply, "sampling", status->sampling);
	number(reply, "sample_cost_ns", status->sample_cost_ns);
	number(reply, "expected_permille", status->expected_permille);
	for (i = 0; i < status->counters.count; i++) {
		const struct profile_counter *counter = &status->counters.counter[i];

		if (counter->count == 0 || strcmp(counter->group, "stat") == 0)
			continue;
		snprintf(key, sizeof(key), "%s.%s", counter->group, counter->name);
		number(reply, key, counter->count);
	}
	number(reply, "throttled", counter_set_get(&status->counters, "stat", "throttled"));
	number(reply, "merge_failing", status->merge_failing);
	/* A day's growth cannot be extrapolated from minutes. */
	if (status->uptime_ns >= 600 * NS_PER_SECOND)
		control_reply_value(reply, "db_bytes_a_day", "%.0f",
				    (double)status->grown_bytes * 86400 / seconds);
	error = log_last_error(&error_ns);
	if (error[0] != '\0') {
		control_reply_value(reply, "last_error", "%s", error);
		number(reply, "last_error_s", (clock_monotonic_ns() - error_ns) / NS_PER_SECOND);
	}
}

static void status_reply(struct collector *collector, const struct config *config,
			 struct control_reply *reply)
{
	struct collector_status status;

	collector_status(collector, &status);
	control_reply_value(reply, "version", "%s", DCPI_VERSION);
	number(reply, "pid", (uint64_t)getpid());
	control_reply_value(reply, "db", "%s", config->db);
	control_reply_value(reply, "source", "%s", status.source);
	control_reply_value(reply, "source_reason", "%s", status.reason);
	events_reply(reply, status.events);
	number(reply, "epoch", (uint64_t)status.epoch);
	time_reply(reply, "epoch_start", status.start_ns);
	number(reply, "taken", status.taken);
	number(reply, "taken_epoch", status.taken_epoch);
	number(reply, "interrupts", status.interrupts);
	number(reply, "stored", status.stored);
	number(reply, "lost",
	       counter_set_sum(&status.counters, "loss") -
		       counter_set_get(&status.counters, "loss", "pending"));
	number(reply, "unknown", status.unknown);
	number(reply, "images", status.images);
	number(reply, "processes", status.processes);
	number(reply, "memory_bytes", status.memory_bytes);
	number(reply, "db_bytes", status.retention.file_bytes);
	number(reply, "db_used_bytes", status.retention.used_bytes);
	number(reply, "expired_epochs", status.retention.epochs);
	number(reply, "expired_samples", status.retention.samples);
	if (status.keeps_images)
		store_reply(reply, &status.store);
	limits_reply(reply, status.quota);
	health_reply(&status, reply);
	self_reply(reply);
}

/* Totals of multiplexed events are scaled by these times. */
static void event_times_reply(struct collector *collector, const struct event_list *events,
			      struct control_reply *reply)
{
	struct source_time time;
	char key[64];
	size_t i;

	for (i = 0; i < events->count; i++) {
		if (collector_event_time(collector, i, &time) < 0)
			continue;
		snprintf(key, sizeof(key), "event.%zu.enabled_ns", i);
		number(reply, key, time.enabled_ns);
		snprintf(key, sizeof(key), "event.%zu.running_ns", i);
		number(reply, key, time.running_ns);
	}
}

/* Every counter as GROUP.NAME, and the identity that the counters must satisfy. */
static void stats_reply(struct collector *collector, struct control_reply *reply)
{
	struct collector_status status;
	uint64_t losses;
	char key[64];
	size_t i;

	collector_status(collector, &status);
	control_reply_value(reply, "source", "%s", status.source);
	number(reply, "interrupts", status.interrupts);
	number(reply, "stored", status.stored);
	for (i = 0; i < status.counters.count; i++) {
		const struct profile_counter *counter = &status.counters.counter[i];

		snprintf(key, sizeof(key), "%s.%s", counter->group, counter->name);
		number(reply, key, counter->count);
	}
	event_times_reply(collector, status.events, reply);
	control_reply_value(reply, "reduction", "%.2f",
			    status.entries > 0 ? (double)status.samples / (double)status.entries
					       : 0.0);
	losses = counter_set_sum(&status.counters, "loss");
	control_reply_value(reply, "identity", "%s: interrupts %llu, stored %llu + losses %llu",
			    status.interrupts == status.stored + losses ? "exact" : "BROKEN",
			    (unsigned long long)status.interrupts,
			    (unsigned long long)status.stored, (unsigned long long)losses);
}

/*
 * A pattern without a match may be for images to come. Report it, but refuse a name that is neither
 * that of an image nor that of a file: it is misspelled.
 */
static int patterns_check(const struct collector *collector, const char *list,
			  struct control_reply *reply, struct error *err)
{
	char pattern[CONTROL_REQUEST_BYTES], text[CONTROL_REQUEST_BYTES];

	if (strcmp(list, "all") == 0 || strcmp(list, "none") == 0)
		return 0;
	while (per_process_next(&list, pattern, sizeof(pattern))) {
		_cleanup_(near_names_deinit) struct near_names near = {.wanted = pattern};

		if (collector_find_image(collector, &near))
			continue;
		near_names_text(&near, text, sizeof(text));
		if (!path_is_pattern(pattern) && !path_names_file(pattern))
			return error_set(err, ENOENT, "no image or file is named '%s'%s", pattern,
					 text);
		control_reply_value(reply, "unmatched", "%s", pattern);
	}
	return 0;
}

/* The collector refers to the text in @config. */
static int divide(struct collector *collector, struct config *config, const char *key,
		  const char *list, struct control_reply *reply, struct error *err)
{
	int rc = 0;

	if (list[0] != '\0') {
		rc = patterns_check(collector, list, reply, err);
		if (rc == 0)
			rc = config_set(config, key, list, err);
		if (rc == 0)
			collector_divide(collector);
	} else if (strcmp(key, "per_process") == 0) {
		control_reply_value(reply, key, "%s", config->per_process);
	} else {
		control_reply_value(reply, key, "%s", config->per_unit);
	}
	return rc;
}

void control_verbs_handle(struct collector *collector, struct config *config, const char *verb,
			  const char *argument, struct control_reply *reply)
{
	struct error err;
	int rc = 0;

	if (strcmp(verb, "status") == 0)
		status_reply(collector, config, reply);
	else if (strcmp(verb, "stats") == 0)
		stats_reply(collector, reply);
	else if (strcmp(verb, "flush") == 0)
		rc = collector_flush(collector, &err);
	else if (strcmp(verb, "epoch") == 0)
		rc = collector_epoch(collector, argument, &err);
	else if (strcmp(verb, "per_process") == 0 || strcmp(verb, "per_unit") == 0)
		rc = divide(collector, config, verb, argument, reply, &err);
	else
		control_reply_error(reply, "unknown request");
	if (rc < 0)
		control_reply_error(reply, "%s", err.message);
}
