/* SPDX-License-Identifier: GPL-2.0-only */
/* What the collector has counted, in all and in an epoch. */
#ifndef DCPI_COLLECTOR_COUNTERS_H
#define DCPI_COLLECTOR_COUNTERS_H

#include "daemon/collect/collector_state.h"

/** collector_counters_taken() - samples that the source has taken since its start. */
uint64_t collector_counters_taken(struct collector *collector);

/** collector_counters_epoch() - this epoch's counters and interrupts. */
void collector_counters_epoch(struct collector *collector, struct tally *tally,
			      uint64_t *interrupts);

/** collector_counters_clock() - look at the core's clock, if periods are in nanoseconds. */
void collector_counters_clock(struct collector *collector);

/** collector_counters_base() - an epoch begins: count from here. */
void collector_counters_base(struct collector *collector);

/**
 * collector_counters_resume() - the epoch goes on in another database
 * @lost:  of its samples and losses so far, which become the loss "database_replaced"
 * @times: count the events' times from now on, too
 *
 * Samples in memory are still to be merged.
 */
void collector_counters_resume(struct collector *collector, uint64_t lost, bool times);

/**
 * struct collector_rest - what is in no profile yet, at a commit
 * @loss:    "pending", or the loss that it is
 * @samples: and how many
 * @edges:   likewise
 */
struct collector_rest {
	const char *loss;
	uint64_t samples;
	uint64_t edges;
};

/** collector_counters_write() - the epoch's totals and times, in the open transaction. */
int collector_counters_write(struct collector *collector, const struct collector_rest *rest,
			     struct error *err);

/**
 * collector_counters_now() - the time, as the epoch's other times have it: the wall
 * clock as it was when the epoch began, and went on evenly, should it be set
 */
int64_t collector_counters_now(const struct collector *collector);

#endif
