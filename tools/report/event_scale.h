/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What samples stand for. An event that took turns with others on the processor's
 * counters, and was there for a quarter of the time it was enabled, has a quarter of
 * the samples it would have had, so that each counts four times. The factor is that of
 * an epoch: turns may differ from one to the next; so may periods, and a sample of twice
 * the period counts twice wherever epochs are added or compared.
 */
#ifndef DCPI_EVENT_SCALE_H
#define DCPI_EVENT_SCALE_H

#include "db/profile_read.h"

struct error;

struct event_factor;
struct report_header;

/** struct event_scale - the factors; zero-initialised: all are 1. Fields are private. */
struct event_scale {
	struct event_factor *factors;
	size_t count;
	size_t capacity;
	int64_t epoch;
	const struct report_header *header;
};

/**
 * event_scale_load() - add the factors of an epoch, of turns alone
 * @scale: freed by event_scale_deinit(), also after a failure
 *
 * Epochs may come in any order, each once.
 */
int event_scale_load(struct event_scale *scale, struct profile_reader *reader, int64_t epoch,
		     struct error *err);

/**
 * event_scale_load_header() - the factors of all epochs of a header, of turns and of periods:
 * to samples of each event's shortest (report_header_period_factor())
 */
int event_scale_load_header(struct event_scale *scale, struct profile_reader *reader,
			    const struct report_header *header, struct error *err);

/**
 * event_scale_period() - a sample of this event and epoch stands for @factor of others, as
 * its period is so much longer
 *
 * Before or after event_scale_load(), once for an event. Return: 0 or -ENOMEM.
 */
int event_scale_period(struct event_scale *scale, int64_t epoch, uint32_t event, double factor);

void event_scale_deinit(struct event_scale *scale);

/** event_scale_factor() - what a sample stands for; 1 if nothing is known. */
double event_scale_factor(const struct event_scale *scale, int64_t epoch, uint32_t event);

#endif
