/* SPDX-License-Identifier: GPL-2.0-only */
/* Epochs: one configuration each, and so one rate. */
#ifndef DCPI_COLLECTOR_EPOCH_H
#define DCPI_COLLECTOR_EPOCH_H

#include "daemon/collect/collector_state.h"

/** collector_epoch_begin() - begin an epoch; the last one has ended. */
int collector_epoch_begin(struct collector *collector, struct error *err);

/**
 * collector_epoch_begin_at() - the same, with a start in the past
 * @start_ns: CLOCK_REALTIME; @boot_ns: the same time of CLOCK_BOOTTIME
 */
int collector_epoch_begin_at(struct collector *collector, int64_t start_ns, uint64_t boot_ns,
			     struct error *err);

/** collector_epoch_follow_cost() - other periods, in a new epoch, if a sample's cost has changed.
 */
int collector_epoch_follow_cost(struct collector *collector, struct error *err);

/** collector_epoch_follow_rates() - lengthen periods, in a new epoch, if the kernel's limit fell.
 */
int collector_epoch_follow_rates(struct collector *collector, struct error *err);

/** collector_epoch_renew() - flush, end the epoch and begin the next; @label: copied. */
int collector_epoch_renew(struct collector *collector, const char *label, struct error *err);

#endif
