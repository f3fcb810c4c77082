/* SPDX-License-Identifier: GPL-2.0-only */
/* How a collector is. */
#ifndef DCPI_COLLECTOR_STATUS_H
#define DCPI_COLLECTOR_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/archive/image_keeper.h"
#include "daemon/base/tally.h"
#include "daemon/event/event.h"

struct quota;

/**
 * struct collector_retention_status - what is stored, and what was forgotten since the start
 * @file_bytes: of the database, @used_bytes: that hold something; as last looked at
 * @epochs:     forgotten
 * @samples:    of these, and of one that is being forgotten
 */
struct collector_retention_status {
	uint64_t file_bytes;
	uint64_t used_bytes;
	uint64_t epochs;
	uint64_t samples;
};

/**
 * struct collector_status - for people
 * @source, @reason:  the source and why
 * @events:           as they are sampled
 * @epoch:            number of the epoch; @start_ns: when it began; @label: its label
 * @taken_epoch:      samples taken in this epoch, including those that the source holds
 * @taken:            samples taken since the start, those that the source has
 *                    not handed over yet included
 * @interrupts:       in this epoch, handed over or lost
 * @stored:           of these, merged into profiles
 * @unknown:          of these, without an image
 * @counters:         this epoch's counters, "pending" included
 * @samples, @entries: handed over by the source since its start; their ratio
 *                    is the data reduction
 * @images, @processes: known
 * @uptime_ns: since collector_start(), CLOCK_MONOTONIC; @cpus: sampled
 * @sample_cost_ns: what a sample costs; 0: not known
 * @expected_permille: overhead_expected() of the periods
 * @sampling: the source was started; before, the processes that run already are looked at
 * @merge_failing: the database cannot be written now
 * @grown_bytes: by what its file has grown since collector_start()
 * @memory_bytes:     used by waiting samples and by the image map
 * @retention:        of the database
 * @quota:            the limits that users have reached
 * @keeps_images:     whether copies of images are kept; @store: of these
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
	struct tally counters;
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
	struct image_keeper_status store;
};

#endif
