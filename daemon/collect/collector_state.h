/* SPDX-License-Identifier: GPL-2.0-only */
/* What a collector knows: the ground that its parts, collector_*.c, stand on. */
#ifndef DCPI_COLLECTOR_STATE_H
#define DCPI_COLLECTOR_STATE_H

#include <limits.h>

#include "daemon/base/tally.h"
#include "daemon/collect/collector_config.h"
#include "daemon/collect/collector_status.h"
#include "daemon/collect/core_clock.h"
#include "daemon/collect/overhead.h"
#include "daemon/image/image_map.h"
#include "daemon/source/source_select.h"
#include "lib/host.h"

struct accumulate;
struct edge_accumulate;
struct matcher;
struct merge;
struct profile_writer;

/*
 * Between the steps of a merge there are drains. But a step costs a commit, however little it
 * merges: it takes so many bins, or so much memory of theirs, unless that were too many steps.
 */
#define COLLECTOR_MERGE_STEPS 6
#define COLLECTOR_STEP_BINS 32
#define COLLECTOR_STEP_BYTES (256U << 10)

#define COLLECTOR_LABEL_BYTES 256
/* For a database that another program has locked: while sampling nothing is drained then. */
#define COLLECTOR_LOCKED_MS 100

/**
 * struct collector_retention - what collector_retention.c knows; times CLOCK_BOOTTIME
 * @epoch_begun_ns:      the current epoch
 * @clock_ahead_ns:      wall clock less boot time, when last looked at
 * @clock_even_since_ns: it has not been set since; 0: not looked at yet
 * @next_look_ns:        for epochs to forget
 * @renew:               another epoch is to begin
 * @stuck:               the database is full of the current epoch
 * @failing:             the last step failed
 * @status:              for people
 */
struct collector_retention {
	uint64_t epoch_begun_ns;
	int64_t clock_ahead_ns;
	uint64_t clock_even_since_ns;
	uint64_t next_look_ns;
	bool renew;
	bool stuck;
	bool failing;
	struct collector_retention_status status;
};

/**
 * struct collector_replacement - what collector_database.c knows of a database that is not in place
 * @pending: it is given up, and no epoch has begun in another one yet
 * @moved:   it exists under another name
 * @ended:   its epoch has ended in it, at @left_ns, and @left_boot_ns as CLOCK_BOOTTIME
 * @text:    what happened to it, for the log
 * @renamed: new name of the other file that was at its path; "" if there was none
 */
struct collector_replacement {
	bool pending;
	bool moved;
	bool ended;
	int64_t left_ns;
	uint64_t left_boot_ns;
	char text[PATH_MAX + 32];
	char renamed[PATH_MAX];
};

/**
 * struct collector - a collector
 * @handed, @entries: samples and entries handed over by the source
 * @edges_handed:     edges likewise; @edges_unknown: of these, those with an end
 *                    that is in no image
 * @base:             counters when the epoch began; @base_interrupts likewise
 * @time:             of each event, as last read; @base_time: when the epoch began
 * @time_known:       bit i: the source tells of event i
 * @core_clock:       in this epoch, at its merges; of collectors that sample a clock
 * @stored:           samples merged in this epoch
 * @accounted:        samples and losses of this epoch that the last commit has stored
 * @accounting:       the same, with the open transaction
 * @replaced:         those of this epoch that were in a database which is gone
 * @given_up:         samples of this epoch that could not be merged at its end
 * @unknown:          of all merged, by reason
 * @sampling:         the source was started
 * @stopped:          the source is at rest
 * @ended:            by collector_stop() or collector_discard()
 * @unmerged_steps:   in which the rest of what was flushed last is to be merged; merges that are
 *                    early, for want of memory or asked for, are none of these
 * @drained_ns:       when image events were last read; 0: not yet
 * @drain_gap_ns:     the longest that they waited to be, in this epoch
 * @commit_ns:        the longest that a commit took
 * @limit:            the kernel's on samples, when it was last looked at
 * @slowed:           periods were lengthened while sampling
 */
struct collector {
	struct collector_config config;
	struct host host;
	char reason[SOURCE_REASON_BYTES];
	char label[COLLECTOR_LABEL_BYTES];

	struct profile_writer *writer;
	struct source *source;
	struct image_keeper *keeper;
	struct matcher *matcher;
	struct accumulate *accumulate;
	struct edge_accumulate *edges;
	struct merge *merge;

	uint64_t handed;
	uint64_t entries;
	uint64_t edges_handed;
	uint64_t edges_unknown;
	uint64_t unknown[IMAGE_UNKNOWN_NR];
	uint64_t merges;
	uint64_t merge_failures;
	bool merge_failing;
	uint64_t damaged_told;
	bool throttle_told;
	bool sampling;
	bool stopped;
	bool ended;

	struct tally base;
	uint64_t base_interrupts;
	struct source_time time[DCPI_EVENTS_MAX];
	struct source_time base_time[DCPI_EVENTS_MAX];
	uint32_t time_known;
	struct core_clock core_clock;
	uint64_t stored;
	uint64_t accounted;
	uint64_t accounting;
	uint64_t replaced;
	uint64_t given_up;
	int64_t epoch_id;
	int64_t epoch_start_ns;
	uint64_t begun_ns; /* of all epochs */
	int64_t begun_bytes;
	uint64_t once_ns; /* CPU time of this process up to collector_start() */
	uint64_t next_cost_ns;

	struct collector_replacement replacement;
	struct collector_retention retention;
	uint64_t next_flush_ns;
	uint64_t next_merge_ns;
	unsigned int unmerged_steps;

	uint64_t drained_ns;
	uint64_t drain_gap_ns;
	uint64_t commit_ns;

	struct overhead_watch overhead;
	int limit_fd;
	uint64_t limit;
	bool slowed;
};

#endif
