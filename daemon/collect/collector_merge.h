/* SPDX-License-Identifier: GPL-2.0-only */
/* Merges bins into the database, one transaction at a time. */
#ifndef DCPI_COLLECTOR_MERGE_H
#define DCPI_COLLECTOR_MERGE_H

#include "daemon/collect/collector_state.h"

/** collector_merge_steps() - return the number of steps for a merge of everything, at least one. */
unsigned int collector_merge_steps(const struct collector *collector);

/**
 * collector_merge_pays() - return true if a merge step is due, or should be repeated
 *
 * Samples drained after the last step wait for the next interval, if there is enough memory.
 */
bool collector_merge_pays(const struct collector *collector);

/** collector_merge_step() - merge a share of the bins; the interval's last step merges the rest. */
void collector_merge_step(struct collector *collector);

/** collector_merge_all() - merge everything. */
int collector_merge_all(struct collector *collector, struct error *err);

/**
 * collector_merge_names() - write the names of procedures that have not been written yet
 *
 * Sampling has ended: waits for the names, two seconds at most. Failures are logged.
 */
void collector_merge_names(struct collector *collector);

/** collector_merge_give_up() - record everything that could not be merged as a loss. */
void collector_merge_give_up(struct collector *collector);

/**
 * collector_merge_flush() - drain everything collected so far, and merge it
 *
 * If the source fails, everything drained before is merged nevertheless.
 */
int collector_merge_flush(struct collector *collector, struct error *err);

#endif
