// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_events.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "tools/base/text.h"
#include "tools/report/event_choice.h"
#include "tools/report/event_role.h"

/*
 * If a core changed its clock between calibrations, its actual range may exceed the observed one:
 * at least this part of the period is uncertain.
 */
#define CLOCK_ERROR_MIN 0.02
/*
 * Interrupts take part of a clock's period themselves. Their cost is measured at the start, in a
 * loop that has no cache contents to lose. COST_ERROR: relative error of the cost.
 * PERIOD_SHARE_MIN: part of the period that remains at least.
 */
#define COST_ERROR 0.3
#define PERIOD_SHARE_MIN 0.2
/* Assumed range of a core's frequency if it was not measured. */
#define CLOCK_GHZ_LOW 0.8
#define CLOCK_GHZ_HIGH 5.0

/* State while an epoch is read. */
struct event_scan {
	struct calc_events *events;
	int64_t id;
	const char *asked;
	enum event_time best; /* best kind of time in all epochs so far */
	bool has_time;
	double low_ghz;
	double high_ghz;
	double cost_ns; /* of a sample */
};

static int keep_name(struct calc_events *events, const char *name)
{
	free(events->time);
	events->time = strdup(name);
	return events->time != NULL ? 0 : -ENOMEM;
}

/* First pass over the events: find the name of the event of time. */
static int choose_time(void *context, const struct profile_event *event)
{
	struct event_scan *scan = context;
	enum event_time time = event_role_time(event);

	if (scan->asked != NULL && strcmp(event->name, scan->asked) != 0)
		return 0;
	if (scan->asked != NULL)
		scan->has_time = true; /* the event exists */
	if (time == EVENT_TIME_NOT && scan->asked != NULL && scan->events->any_event &&
	    scan->events->time == NULL)
		return keep_name(scan->events, event->name);
	if (time >= scan->best)
		return 0;
	scan->best = time;
	return keep_name(scan->events, event->name);
}

static int note_clock(void *context, const struct profile_counter *counter)
{
	struct event_scan *scan = context;

	if (strcmp(counter->group, "stat") != 0)
		return 0;
	if (strcmp(counter->name, "core_clock_min_khz") == 0)
		scan->low_ghz = (double)counter->count / 1e6;
	else if (strcmp(counter->name, "core_clock_max_khz") == 0)
		scan->high_ghz = (double)counter->count / 1e6;
	else if (strcmp(counter->name, "sample_cost_ns") == 0)
		scan->cost_ns = (double)counter->count;
	return 0;
}

static void clock_period(struct event_scan *scan, struct calc_event *event)
{
	struct calc_events *events = scan->events;
	double low = scan->low_ghz, high = scan->high_ghz;
	double cost = fmin(scan->cost_ns, (1 - PERIOD_SHARE_MIN) * event->period);
	double left = event->period - cost;

	if (!(low > 0 && high >= low)) {
		low = CLOCK_GHZ_LOW;
		high = CLOCK_GHZ_HIGH;
		events->clock_assumed = true;
	}
	if (events->clock_low_ghz == 0 || low < events->clock_low_ghz)
		events->clock_low_ghz = low;
	if (high > events->clock_high_ghz)
		events->clock_high_ghz = high;
	event->period = left * (low + high) / 2;
	event->error = (high - low) / (high + low) + CLOCK_ERROR_MIN;
	if (cost > 0)
		event->error += COST_ERROR * cost / left;
}

/* Two events for the same role in an epoch would be counted twice. */
static bool has_role(const struct calc_events *events, int64_t epoch, unsigned int role)
{
	for (size_t i = events->count; i > 0 && events->list[i - 1].epoch == epoch; i--) {
		if (events->list[i - 1].role == role)
			return true;
	}
	return false;
}

static void note_period(struct calc_events *events, double period)
{
	if (period <= 0)
		return;
	events->periods_differ |= events->last_period > 0 && events->last_period != period;
	events->last_period = period;
}

/* Second pass: record the events of use. */
static int take_event(void *context, const struct profile_event *event)
{
	struct event_scan *scan = context;
	struct calc_events *events = scan->events;
	struct calc_event taken = {.epoch = scan->id, .number = event->number};

	taken.role = event_role_find(event->name);
	taken.period = ((double)event->period_min + (double)event->period_max) / 2;
	if (strcmp(event->name, events->time) == 0)
		note_period(events, taken.period);
	if (event->running_ns > 0 && event->running_ns < event->enabled_ns)
		taken.period *= (double)event->enabled_ns / (double)event->running_ns;
	if (strcmp(event->name, events->time) == 0) {
		taken.role = CALC_EVENT_TIME;
		scan->has_time = true;
		if (event_role_time(event) == EVENT_TIME_CLOCK)
			clock_period(scan, &taken);
	} else if (taken.role == PROFILE_ROLES) {
		return 0;
	}
	if (taken.period <= 0 || has_role(events, scan->id, taken.role))
		return 0;
	if (array_reserve(&events->list, &events->capacity, events->count + 1, sizeof(taken)) < 0)
		return -ENOMEM;
	events->list[events->count++] = taken;
	return 0;
}

/* Set the message of an error of this file's callbacks. */
static int calc_events_explain(int r, struct error *err)
{
	return r == -ENOMEM ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : r;
}

static int unknown_event(struct profile_reader *reader, const struct profile_epoch *epochs,
			 size_t epoch_count, const char *asked, struct error *err)
{
	_cleanup_(event_names_deinit) struct event_names names = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < epoch_count; i++)
		r = profile_reader_events(reader, epochs[i].id, event_names_add, &names, err);
	return r < 0 ? calc_events_explain(r, err)
		     : near_names_unknown(err, "event", asked, names.list, names.count);
}

static int calc_events_choose(struct calc_events *events, struct profile_reader *reader,
			      const struct profile_epoch *epochs, size_t epoch_count,
			      const char *asked, struct error *err)
{
	struct event_scan scan = {.events = events, .asked = asked, .best = EVENT_TIME_NOT};

	for (size_t i = 0; i < epoch_count; i++) {
		int r = profile_reader_events(reader, epochs[i].id, choose_time, &scan, err);

		if (r < 0)
			return calc_events_explain(r, err);
	}
	events->clock = scan.best == EVENT_TIME_CLOCK;
	if (events->time != NULL)
		return 0;
	if (asked == NULL)
		return error_set(
			err, ENOENT,
			"no event that measures time was sampled: neither cycles nor a clock");
	if (!scan.has_time)
		return unknown_event(reader, epochs, epoch_count, asked, err);
	return error_set(err, EINVAL, "event '%s' does not measure time", asked);
}

static int by_number(const void *a, const void *b)
{
	const struct calc_event *x = a, *y = b;

	if (x->epoch != y->epoch)
		return x->epoch < y->epoch ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Clean the name for printing; the search of the epochs, which needs the original name, is done. */
static int clean_name(struct calc_events *events)
{
	char *clean = text_clean(events->time);

	free(events->time);
	events->time = clean;
	return clean != NULL ? 0 : -ENOMEM;
}

int calc_events_load(struct calc_events *events, struct profile_reader *reader,
		     const struct profile_epoch *epochs, size_t epoch_count, const char *asked,
		     struct error *err)
{
	int r = calc_events_choose(events, reader, epochs, epoch_count, asked, err);

	for (size_t i = 0; r == 0 && i < epoch_count; i++) {
		struct event_scan scan = {.events = events, .id = epochs[i].id};

		r = profile_reader_counters(reader, &epochs[i], note_clock, &scan, err);
		if (r == 0)
			r = calc_events_explain(
				profile_reader_events(reader, epochs[i].id, take_event, &scan, err),
				err);
		events->epochs_without += !scan.has_time;
	}
	if (events->count > 0)
		qsort(events->list, events->count, sizeof(*events->list), by_number);
	if (r == 0 && clean_name(events) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return r;
}

void calc_events_deinit(struct calc_events *events)
{
	free(events->list);
	free(events->time);
	*events = (struct calc_events){0};
}

double calc_events_clock_ns(const struct calc_events *events)
{
	return events->clock && !events->periods_differ ? events->last_period : 0;
}

const struct calc_event *calc_events_find(const struct calc_events *events, int64_t epoch,
					  uint32_t number)
{
	const struct calc_event key = {.epoch = epoch, .number = number};

	if (events->count == 0)
		return NULL;
	return bsearch(&key, events->list, events->count, sizeof(key), by_number);
}
