/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scale factors of samples. An event that shares the processor's counters with others by
 * multiplexing may be on a counter for a quarter of the time it was enabled. It then has a quarter
 * of its samples, so each of them counts four times. Factors are per epoch, because multiplexing
 * may differ between epochs. So may periods: a sample with twice the period counts twice if epochs
 * are added or compared.
 */
#ifndef DCPI_EVENT_SCALE_H
#define DCPI_EVENT_SCALE_H

#include "db/profile_read.h"

struct error;

struct event_factor;
struct report_header;

/** struct event_scale - the factors; zero-initialised: all are 1. Fields are private */
struct event_scale {
	struct event_factor *factors;
	size_t count;
	size_t capacity;
	int64_t epoch;
	const struct report_header *header;
};

/**
 * event_scale_load() - add the factors of an epoch for multiplexing only
 * @scale: freed by event_scale_deinit(), also after a failure
 *
 * Epochs may be added in any order, each once.
 */
int event_scale_load(struct event_scale *scale, struct profile_reader *reader, int64_t epoch,
		     struct error *err);

/**
 * event_scale_load_header() - add the factors of all epochs of a header, for multiplexing and
 * periods
 *
 * Counts are scaled to samples of each event's shortest period (report_header_period_factor()).
 */
int event_scale_load_header(struct event_scale *scale, struct profile_reader *reader,
			    const struct report_header *header, struct error *err);

/**
 * event_scale_period() - set the factor by which the period of an event in an epoch is longer
 *
 * Before or after event_scale_load(), once for an event. Return: 0 or -ENOMEM.
 */
int event_scale_period(struct event_scale *scale, int64_t epoch, uint32_t event, double factor);

void event_scale_deinit(struct event_scale *scale);

/** event_scale_factor() - return the factor by which to multiply a sample; 1 if unknown */
double event_scale_factor(const struct event_scale *scale, int64_t epoch, uint32_t event);

#endif
