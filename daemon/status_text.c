// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/status_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/metrics.h"

/* Shares of the samples, in percent, above which a problem is reported. */
#define LOST_PERCENT 1.0
#define UNKNOWN_PERCENT 5.0
/* Maximum time without a sample; even an idle machine has some. */
#define SILENT_SECONDS 30

#define LABEL "%-12s "

static double number(const struct metrics *reply, const char *key)
{
	const char *value = metrics_find(reply, key);

	return value != NULL ? strtod(value, NULL) : 0;
}

static void duration(char *text, size_t bytes, double seconds)
{
	if (seconds < 120)
		snprintf(text, bytes, "%.0f s", seconds);
	else if (seconds < 7200)
		snprintf(text, bytes, "%.0f min", seconds / 60);
	else if (seconds < 2 * 86400)
		snprintf(text, bytes, "%.0f h", seconds / 3600);
	else
		snprintf(text, bytes, "%.0f days", seconds / 86400);
}

static void size(char *text, size_t bytes, double value)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
	size_t unit = 0;

	while ((value >= 1000 || value <= -1000) && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1000;
		unit++;
	}
	snprintf(text, bytes, unit > 0 && value < 100 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static double status_text_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static void print_head(FILE *stream, const struct metrics *reply)
{
	char age[32];

	duration(age, sizeof(age), number(reply, "uptime_s"));
	fprintf(stream, "dcpid %s has been sampling this machine (%.0f CPUs) for %s.\n\n",
		metrics_find(reply, "version"), number(reply, "cpus"), age);
	fprintf(stream, LABEL "%s (%s)\n", "source", metrics_find(reply, "source"),
		metrics_find(reply, "source_reason"));
	if (metrics_find(reply, "image_events") != NULL)
		fprintf(stream, LABEL "by %s\n", "image events",
			metrics_find(reply, "image_events"));
}

static void print_events(FILE *stream, const struct metrics *reply)
{
	char key[32];
	int i;

	for (i = 0;; i++) {
		snprintf(key, sizeof(key), "event.%d", i);
		if (metrics_find(reply, key) == NULL)
			break;
		fprintf(stream, LABEL "%s\n", i == 0 ? "events" : "", metrics_find(reply, key));
	}
	fprintf(stream, LABEL "%.0f samples a second and CPU", "rate", number(reply, "rate"));
	if (number(reply, "sample_cost_ns") > 0)
		fprintf(stream, "; a sample costs %.1f us, sampling at most %.1f%% of a busy CPU",
			number(reply, "sample_cost_ns") / 1e3,
			number(reply, "expected_permille") / 10);
	fputc('\n', stream);
}

/* Print "ring_full 12, memory 3" for the keys "loss.ring_full", ...; or "none". */
static void print_group(FILE *stream, const struct metrics *reply, const char *group,
			const char *except)
{
	const char *key, *value;
	bool any = false;
	size_t i;

	for (i = 0; metrics_at(reply, i, &key, &value); i++) {
		if (strncmp(key, group, strlen(group)) != 0 || strcmp(value, "0") == 0 ||
		    strcmp(key + strlen(group), except) == 0)
			continue;
		fprintf(stream, "%s%s %s", any ? ", " : "", key + strlen(group), value);
		any = true;
	}
	fputs(any ? "\n" : "none\n", stream);
}

static void print_epoch(FILE *stream, const struct metrics *reply)
{
	double interrupts = number(reply, "interrupts"), taken = number(reply, "taken_epoch");

	/* The kernel holds some samples until the next flush. */
	taken = taken > interrupts ? taken : interrupts;
	fprintf(stream, LABEL "%s, since %s: %.0f samples, %.0f of them in the database\n", "epoch",
		metrics_find(reply, "epoch"), metrics_find(reply, "epoch_start"), taken,
		number(reply, "stored"));
	fprintf(stream, LABEL "%.2f%%: ", "lost",
		status_text_percent(number(reply, "lost"), interrupts));
	print_group(stream, reply, "loss.", "pending");
	fprintf(stream, LABEL "%.2f%%: ", "unknown",
		status_text_percent(number(reply, "unknown"), number(reply, "stored")));
	print_group(stream, reply, "unknown.", "");
}

/* Print e.g. "quota_events: 1234 refused, most of uid 1000". */
static void print_limits(FILE *stream, const struct metrics *reply)
{
	static const char group[] = "limit.";
	const char *key, *value, *user;
	char user_key[64];
	size_t i;

	for (i = 0; metrics_at(reply, i, &key, &value); i++) {
		if (strncmp(key, group, strlen(group)) != 0)
			continue;
		snprintf(user_key, sizeof(user_key), "limit_user.%s", key + strlen(group));
		user = metrics_find(reply, user_key);
		fprintf(stream, LABEL "%s: %s refused, most of %s\n", "limit", key + strlen(group),
			value, user != NULL ? user : "unknown users");
	}
}

static void print_places(FILE *stream, const struct metrics *reply)
{
	char text[32], more[32];

	fprintf(stream, LABEL "%.0f images, %.0f processes", "known", number(reply, "images"),
		number(reply, "processes"));
	if (metrics_find(reply, "store.images") != NULL) {
		size(text, sizeof(text), number(reply, "store.bytes"));
		fprintf(stream, "; copies of %.0f images, %s", number(reply, "store.images"), text);
	}
	size(text, sizeof(text), number(reply, "db_bytes"));
	fprintf(stream, "\n" LABEL "%s, %s", "database", metrics_find(reply, "db"), text);
	if (metrics_find(reply, "db_bytes_a_day") != NULL) {
		size(more, sizeof(more), number(reply, "db_bytes_a_day"));
		fprintf(stream, ", growing by %s a day", more);
	}
	size(text, sizeof(text), number(reply, "rss_bytes"));
	size(more, sizeof(more), number(reply, "memory_bytes"));
	fprintf(stream, "\n" LABEL "%s of memory, %s of it for samples and maps; %.2f%% of a CPU\n",
		"daemon", text, more,
		status_text_percent(number(reply, "cpu_ms") / 1000, number(reply, "uptime_s")));
}

static void print_problems(FILE *stream, const struct metrics *reply)
{
	double interrupts = number(reply, "interrupts"), taken = number(reply, "taken");
	double lost = status_text_percent(number(reply, "lost"), interrupts);
	double unknown = status_text_percent(number(reply, "unknown"), number(reply, "stored"));
	char age[32];

	if (metrics_find(reply, "sampling") != NULL && number(reply, "sampling") == 0)
		fputs("! Sampling has not started: the daemon scans the processes first.\n",
		      stream);
	if (number(reply, "merge_failing") > 0)
		fputs("! The database cannot be written: samples stay in memory, and are lost when "
		      "the memory limit is reached.\n",
		      stream);
	if (lost > LOST_PERCENT)
		fprintf(stream,
			"! %.1f%% of the samples are lost; see 'lost' above for the causes.\n",
			lost);
	if (unknown > UNKNOWN_PERCENT)
		fprintf(stream,
			"! %.1f%% of the samples are in no known image; see 'unknown' above for "
			"the reasons.\n",
			unknown);
	if (number(reply, "throttled") > 0)
		fprintf(stream,
			"! The kernel has throttled sampling %.0f times: the rate is too high for "
			"this machine.\n",
			number(reply, "throttled"));
	if (taken == 0 && number(reply, "uptime_s") > SILENT_SECONDS)
		fputs("! No sample was taken so far: check that the event occurs on this machine "
		      "(dcpid --list-events).\n",
		      stream);
	if (metrics_find(reply, "last_error") != NULL) {
		duration(age, sizeof(age), number(reply, "last_error_s"));
		fprintf(stream, "! Last error, %s ago: %s\n", age,
			metrics_find(reply, "last_error"));
	}
}

void status_text_print(FILE *stream, const struct metrics *reply)
{
	static const char *const needed[] = {"version", "source", "source_reason",
					     "epoch",	"db",	  "epoch_start"};
	size_t i;

	/* The reply may come from another version, whose meaning would have to be guessed. */
	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (metrics_find(reply, needed[i]) == NULL) {
			fprintf(stream,
				"the daemon does not report '%s': it may be of another version\n",
				needed[i]);
			return;
		}
	}
	print_head(stream, reply);
	print_events(stream, reply);
	print_epoch(stream, reply);
	print_limits(stream, reply);
	print_places(stream, reply);
	print_problems(stream, reply);
}
