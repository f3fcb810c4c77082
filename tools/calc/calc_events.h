/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of some epochs as the analysis wants them: one that samples time, with
 * its period in cycles, and those that are evidence of causes.
 *
 * Samples stay as many as were taken: how far they may be off is a matter of their number. What
 * events lost that took turns is in the period. Where epochs have different periods, samples
 * are scaled to those of the mean one, of which there are as many (calc_profile.h).
 */
#ifndef DCPI_CALC_EVENTS_H
#define DCPI_CALC_EVENTS_H

#include <stdbool.h>

#include "analysis/frequency/procedure_profile.h"
#include "db/profile_read.h"

struct error;

/* calc_event.role: it samples time. */
#define CALC_EVENT_TIME PROFILE_ROLES

/**
 * struct calc_event - an event of an epoch that is of use
 * @role:   enum profile_event_role, or CALC_EVENT_TIME
 * @period: cycles or events that a sample stands for, on average; of events that took
 *          turns, so much more
 * @error:  relative uncertainty of @period
 */
struct calc_event {
	int64_t epoch;
	uint32_t number;
	unsigned int role;
	double period;
	double error;
};

/**
 * struct calc_events - zero-initialised is empty
 * @any_event:    set before: the event that is asked for need not tell time, if nobody wants
 *                cycles, but only where samples are
 * @list:         by epoch and number
 * @time:         name of the event that samples time, fit for terminals
 * @clock:        it is a clock
 * @clock_low_ghz, @clock_high_ghz: of clocks: the core's, in all epochs
 * @clock_assumed: an epoch does not tell the core's clock
 * @periods_differ: those of that event, whatever its turns and the core's clock do
 * @mean_period:  then the period that its samples are scaled to, of all images; set by
 *                calc_source_load(); 0: they are as taken
 * @epochs_without: epochs that have no such event, and are passed over
 */
struct calc_events {
	bool any_event;
	struct calc_event *list;
	size_t count;
	size_t capacity;
	char *time;
	bool clock;
	double clock_low_ghz;
	double clock_high_ghz;
	bool clock_assumed;
	bool periods_differ;
	double mean_period;
	size_t epochs_without;

	/* private */
	double last_period;
};

/**
 * calc_events_load() - choose events
 * @events: zero-initialised; freed by calc_events_deinit(), also after a failure
 * @asked:  name of the event of time; NULL: cycles, if an epoch has them, else a clock
 *
 * Return: 0; -ENOENT no epoch has an event of time; -EINVAL @asked is none; or the
 * reader's error.
 */
int calc_events_load(struct calc_events *events, struct profile_reader *reader,
		     const struct profile_epoch *epochs, size_t epoch_count, const char *asked,
		     struct error *err);

void calc_events_deinit(struct calc_events *events);

/** calc_events_clock_ns() - of a clock: time between samples, in all epochs; 0: not known */
double calc_events_clock_ns(const struct calc_events *events);

/** calc_events_find() - O(log n). Return: NULL if the event is of no use. */
const struct calc_event *calc_events_find(const struct calc_events *events, int64_t epoch,
					  uint32_t number);

#endif
