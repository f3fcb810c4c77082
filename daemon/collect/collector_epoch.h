/* SPDX-License-Identifier: GPL-2.0-only */
/* Epochs: each has one configuration, and therefore one sampling rate. */
#ifndef DCPI_COLLECTOR_EPOCH_H
#define DCPI_COLLECTOR_EPOCH_H

#include "daemon/collect/collector_state.h"

/** collector_epoch_begin() - begin an epoch; the previous one has ended. */
int collector_epoch_begin(struct collector *collector, struct error *err);

/**
 * collector_epoch_begin_at() - begin an epoch with a start in the past
 * @start_ns: CLOCK_REALTIME
 * @boot_ns:  the same time of CLOCK_BOOTTIME
 */
int collector_epoch_begin_at(struct collector *collector, int64_t start_ns, uint64_t boot_ns,
			     struct error *err);

/**
 * collector_epoch_follow_cost() - begin an epoch with other periods if the cost of a sample
 * changed.
 */
int collector_epoch_follow_cost(struct collector *collector, struct error *err);

/**
 * collector_epoch_follow_rates() - begin an epoch with longer periods if the kernel's limit fell.
 */
int collector_epoch_follow_rates(struct collector *collector, struct error *err);

/** collector_epoch_renew() - flush, end the epoch and begin the next one; @label: copied. */
int collector_epoch_renew(struct collector *collector, const char *label, struct error *err);

#endif
