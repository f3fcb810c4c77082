/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of some epochs as the analysis needs them: one event that samples time, with its
 * period in cycles, and those that are evidence of causes.
 *
 * Counts of samples stay unscaled, because their statistical error depends on the number taken. The
 * period of a multiplexed event accounts for the samples it lost. If epochs have different periods,
 * samples are scaled to the mean period, which preserves their total number (calc_profile.h).
 */
#ifndef DCPI_CALC_EVENTS_H
#define DCPI_CALC_EVENTS_H

#include <stdbool.h>

#include "analysis/frequency/procedure_profile.h"
#include "db/profile_read.h"

struct error;

/* Value of calc_event.role: the event samples time. */
#define CALC_EVENT_TIME PROFILE_ROLES

/**
 * struct calc_event - an event of an epoch that the analysis uses
 * @role:   enum profile_event_role, or CALC_EVENT_TIME
 * @period: mean number of cycles or events that a sample stands for; larger for multiplexed events
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
 * struct calc_events - zero-initialised: empty
 * @any_event:      set before: the requested event need not sample time, because the caller uses
 *                  only the places of samples, not cycles
 * @list:           by epoch and number
 * @time:           name of the event that samples time, fit for terminals
 * @clock:          the event is a clock
 * @clock_low_ghz, @clock_high_ghz: for clocks: the range of the core's frequency in all epochs
 * @clock_assumed:  in some epoch the core's frequency is not recorded
 * @periods_differ: epochs have different periods of that event, apart from multiplexing and the
 *                  core's clock
 * @mean_period:    in this case the period to which its samples are scaled, over all images; set by
 *                  calc_source_load(); 0: samples are not scaled
 * @epochs_without: number of epochs without such an event, which are skipped
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
 * Return: 0; -ENOENT: no epoch has an event of time; -EINVAL: @asked does not exist or does not
 * sample time; or the reader's error.
 */
int calc_events_load(struct calc_events *events, struct profile_reader *reader,
		     const struct profile_epoch *epochs, size_t epoch_count, const char *asked,
		     struct error *err);

void calc_events_deinit(struct calc_events *events);

/** calc_events_clock_ns() - return a clock's time between samples, over all epochs; 0: not known */
double calc_events_clock_ns(const struct calc_events *events);

/** calc_events_find() - find an event, O(log n). Return: NULL if the analysis does not use it */
const struct calc_event *calc_events_find(const struct calc_events *events, int64_t epoch,
					  uint32_t number);

#endif
