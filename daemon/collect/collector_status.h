/* SPDX-License-Identifier: GPL-2.0-only */
/* Status of a collector. */
#ifndef DCPI_COLLECTOR_STATUS_H
#define DCPI_COLLECTOR_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/archive/archive_policy.h"
#include "daemon/base/counter_set.h"
#include "daemon/event/event.h"

struct quota;

/**
 * struct collector_retention_status - stored data, and data deleted since the start
 * @file_bytes: size of the database
 * @used_bytes: part of it that is in use, at the last check
 * @epochs:     number of deleted epochs
 * @samples:    in deleted epochs, and in one that is being deleted
 */
struct collector_retention_status {
	uint64_t file_bytes;
	uint64_t used_bytes;
	uint64_t epochs;
	uint64_t samples;
};

/**
 * struct collector_status - for users
 * @source, @reason:    the source and why it was chosen
 * @events:             as they are sampled
 * @epoch:              number of the epoch
 * @start_ns:           its start
 * @label:              its label
 * @taken_epoch:        samples taken in this epoch, including those that the source holds
 * @taken:              samples taken since the start, including those that the source holds
 * @interrupts:         samples of this epoch passed on or lost
 * @stored:             part of @interrupts merged into profiles
 * @unknown:            part of @interrupts without an image
 * @counters:           this epoch's counters, including "pending"
 * @samples, @entries:  received from the source since its start; their ratio is the data reduction
 * @images, @processes: number of known ones
 * @uptime_ns:          since collector_start(), CLOCK_MONOTONIC
 * @cpus:               number of sampled CPUs
 * @sample_cost_ns:     cost of a sample; 0: unknown
 * @expected_permille:  overhead_expected() of the periods
 * @sampling:           the source was started; before, running processes are scanned
 * @merge_failing:      the database cannot be written now
 * @grown_bytes:        growth of its file since collector_start()
 * @memory_bytes:       of waiting samples and of the image map
 * @retention:          of the database
 * @quota:              the limits that users have reached
 * @keeps_images:       copies of images are archived
 * @store:              of these copies
 */
struct collector_status {
	const char *source;
	const char *reason;
	const struct event_list *events;
	int64_t epoch;
	int64_t start_ns;
	const char *label;
	uint64_t taken;
	uint64_t taken_epoch;
	uint64_t interrupts;
	uint64_t stored;
	uint64_t unknown;
	struct counter_set counters;
	uint64_t samples;
	uint64_t entries;
	size_t images;
	size_t processes;
	uint64_t uptime_ns;
	uint32_t cpus;
	uint64_t sample_cost_ns;
	uint64_t expected_permille;
	bool sampling;
	bool merge_failing;
	int64_t grown_bytes;
	size_t memory_bytes;
	struct collector_retention_status retention;
	const struct quota *quota;
	bool keeps_images;
	struct archive_policy_status store;
};

#endif
