/* SPDX-License-Identifier: GPL-2.0-only */
/* From the bins to the database, a transaction at a time. */
#ifndef DCPI_COLLECTOR_MERGE_H
#define DCPI_COLLECTOR_MERGE_H

#include "daemon/collect/collector_state.h"

/** collector_merge_steps() - in how many steps to merge what is there, at least one. */
unsigned int collector_merge_steps(const struct collector *collector);

/**
 * collector_merge_pays() - whether it is time for a step, or for another try
 *
 * What is drained once all steps are done waits for the next interval, if there is room.
 */
bool collector_merge_pays(const struct collector *collector);

/** collector_merge_step() - merge a share, such that the interval's last step takes the rest. */
void collector_merge_step(struct collector *collector);

/** collector_merge_all() - merge everything. */
int collector_merge_all(struct collector *collector, struct error *err);

/** collector_merge_give_up() - the last word about what no merge will take any more. */
void collector_merge_give_up(struct collector *collector);

/**
 * collector_merge_flush() - take everything that was collected so far, and merge it
 *
 * If the source fails, what it gave before is merged all the same.
 */
int collector_merge_flush(struct collector *collector, struct error *err);

#endif
