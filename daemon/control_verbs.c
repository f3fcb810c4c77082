// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/control_verbs.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/clock.h"
#include "daemon/collector.h"
#include "daemon/config.h"
#include "daemon/control.h"
#include "lib/error.h"

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
	number(reply, "interrupts", status.interrupts);
	number(reply, "stored", status.stored);
	number(reply, "lost",
	       tally_sum(&status.counters, "loss") -
		       tally_get(&status.counters, "loss", "pending"));
	number(reply, "unknown", status.unknown);
	number(reply, "images", status.images);
	number(reply, "processes", status.processes);
	number(reply, "memory_bytes", status.memory_bytes);
}

/* Totals of events that take turns on the counters are scaled by these. */
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

/* Every counter as GROUP.NAME, and the identity that they must satisfy. */
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
	losses = tally_sum(&status.counters, "loss");
	control_reply_value(reply, "identity", "%s: interrupts %llu, stored %llu + losses %llu",
			    status.interrupts == status.stored + losses ? "exact" : "BROKEN",
			    (unsigned long long)status.interrupts,
			    (unsigned long long)status.stored, (unsigned long long)losses);
}

void control_verbs_handle(struct collector *collector, const struct config *config,
			  const char *verb, const char *argument, struct control_reply *reply)
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
	else
		control_reply_error(reply, "unknown request");
	if (rc < 0)
		control_reply_error(reply, "%s", err.message);
}
