/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slices of the current epoch. A slice ends when all samples that the source has were drained, so
 * that samples belong to the slice in which they were taken. Its losses are those counted between
 * its ends.
 */
#ifndef DCPI_COLLECTOR_SLICES_H
#define DCPI_COLLECTOR_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/counter_set.h"

struct collector;
struct collector_rest;
struct error;
struct merge_slice;

/* Maximum number of slices that are not completely stored. The last one is longer if necessary. */
#define COLLECTOR_SLICES 24

/**
 * struct collector_slice - a slice
 * @number:     last number of slices in accumulate.h that belong to it
 * @start_ns, @end_ns: on the epoch's clock; @end_ns of the last slice is not known yet
 * @interrupts: samples and losses in it, as in struct profile_slice
 * @losses:     counters of the group "loss"
 */
struct collector_slice {
	uint32_t number;
	int64_t start_ns;
	int64_t end_ns;
	uint64_t interrupts;
	struct counter_set losses;
};

/**
 * struct collector_slices - slices by time, the last one gets samples
 * @base, @base_interrupts: the epoch's counters at the start of the last slice
 * @next_ns: when it is to end
 */
struct collector_slices {
	struct collector_slice list[COLLECTOR_SLICES];
	size_t count;
	struct counter_set base;
	uint64_t base_interrupts;
	int64_t next_ns;
};

/** collector_slices_epoch() - an epoch begins; its first slice has all samples in memory */
void collector_slices_epoch(struct collector *collector);

/** collector_slices_due() - return true if another slice is to begin */
bool collector_slices_due(const struct collector *collector);

/** collector_slices_drain() - drain everything collected so far, and begin another slice if due */
int collector_slices_drain(struct collector *collector, struct error *err);

/** collector_slices_begin() - return the start of the oldest slice that is not completely stored */
int64_t collector_slices_begin(const struct collector *collector);

/**
 * collector_slices_find() - add all slices to the database, in the open transaction
 * @list: out: room for COLLECTOR_SLICES
 */
int collector_slices_find(struct collector *collector, struct merge_slice *list, size_t *count,
			  struct error *err);

/**
 * collector_slices_write() - write the totals of all slices, in the open transaction
 * @tally, @interrupts: the epoch's counters, except for the loss of @rest
 */
int collector_slices_write(struct collector *collector, const struct counter_set *tally,
			   uint64_t interrupts, const struct collector_rest *rest,
			   struct error *err);

/** collector_slices_stored() - forget slices without samples in memory, after a commit */
void collector_slices_stored(struct collector *collector);

#endif
