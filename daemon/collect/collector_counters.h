/* SPDX-License-Identifier: GPL-2.0-only */
/* The collector's counters, in total and per epoch. */
#ifndef DCPI_COLLECTOR_COUNTERS_H
#define DCPI_COLLECTOR_COUNTERS_H

#include "daemon/collect/collector_state.h"

/**
 * collector_counters_taken() - return the number of samples that the source has taken since its
 * start.
 */
uint64_t collector_counters_taken(struct collector *collector);

/** collector_counters_epoch() - return this epoch's counters and interrupts. */
void collector_counters_epoch(struct collector *collector, struct counter_set *tally,
			      uint64_t *interrupts);

/** collector_counters_clock() - measure the core's clock, if periods are in nanoseconds. */
void collector_counters_clock(struct collector *collector);

/** collector_counters_base() - start counting a new epoch. */
void collector_counters_base(struct collector *collector);

/**
 * collector_counters_resume() - the epoch continues in another database
 * @lost:  number of its samples and losses so far that become the loss "database_replaced"
 * @times: also restart the events' times
 *
 * Samples in memory are still to be merged.
 */
void collector_counters_resume(struct collector *collector, uint64_t lost, bool times);

/**
 * struct collector_rest - samples and edges that are in no profile yet, at a commit
 * @loss:    "pending", or the name of the loss
 * @samples: number of samples
 * @bins:    number of bins, the oldest ones, that are in profiles; @samples are in the others
 * @edges:   number of edges
 */
struct collector_rest {
	const char *loss;
	uint64_t samples;
	size_t bins;
	uint64_t edges;
};

/** collector_counters_write() - write the epoch's totals and times in the open transaction. */
int collector_counters_write(struct collector *collector, const struct collector_rest *rest,
			     struct error *err);

/**
 * collector_counters_now() - return the current time on the epoch's clock
 *
 * This is the wall clock at the start of the epoch, continued evenly even if the clock is set.
 */
int64_t collector_counters_now(const struct collector *collector);

#endif
