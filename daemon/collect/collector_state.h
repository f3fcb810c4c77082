/* SPDX-License-Identifier: GPL-2.0-only */
/* Internal state of a collector, shared by collector_*.c. */
#ifndef DCPI_COLLECTOR_STATE_H
#define DCPI_COLLECTOR_STATE_H

#include <limits.h>

#include "daemon/base/counter_set.h"
#include "daemon/collect/collector_config.h"
#include "daemon/collect/collector_slices.h"
#include "daemon/collect/collector_status.h"
#include "daemon/collect/core_clock.h"
#include "daemon/collect/overhead.h"
#include "daemon/image/image_map.h"
#include "daemon/source/source_select.h"
#include "lib/host.h"

struct accumulate;
struct code_capture;
struct edge_accumulate;
struct image_names;
struct matcher;
struct merge;
struct off_cpu;
struct pair_store;
struct profile_writer;
struct stack_unwinder;
struct thread_store;

/*
 * Drains take place between the steps of a merge. But each step costs a commit. So a step merges at
 * least this number of bins, or this amount of memory, unless that would be more than
 * COLLECTOR_MERGE_STEPS.
 */
#define COLLECTOR_MERGE_STEPS 6
#define COLLECTOR_STEP_BINS 32
#define COLLECTOR_STEP_BYTES (256U << 10)

#define COLLECTOR_LABEL_BYTES 256
/*
 * Maximum wait for a database locked by another program: while sampling, nothing is drained
 * meanwhile.
 */
#define COLLECTOR_LOCKED_MS 100

/**
 * struct collector_retention - state of collector_retention.c; times in CLOCK_BOOTTIME
 * @epoch_begun_ns:      start of the current epoch
 * @clock_ahead_ns:      wall clock minus boot time, at the last check
 * @clock_even_since_ns: time since when the clock has not been set; 0: not checked yet
 * @next_look_ns:        next check for epochs to delete
 * @next_slices_ns:      next check for slices to merge
 * @renew:               another epoch is to begin
 * @stuck:               the database is full of the current epoch
 * @failing:             the last step failed
 * @slices_failing:      the last merge of slices failed
 * @status:              for users
 */
struct collector_retention {
	uint64_t epoch_begun_ns;
	int64_t clock_ahead_ns;
	uint64_t clock_even_since_ns;
	uint64_t next_look_ns;
	uint64_t next_slices_ns;
	bool renew;
	bool stuck;
	bool failing;
	bool slices_failing;
	struct collector_retention_status status;
};

/**
 * struct collector_replacement - state of collector_database.c for a database that was moved or
 * removed
 * @pending: it is no longer used, and no epoch has begun in another one yet
 * @moved:   it exists under another name
 * @ended:   its epoch has ended in it, at @left_ns, and @left_boot_ns as CLOCK_BOOTTIME
 * @text:    description of the change, for the log
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
 * @handed, @entries: samples and entries received from the source
 * @edges_handed:     edges received from the source
 * @edges_unknown:    part of @edges_handed with an end that is in no image
 * @base:             counters at the start of the epoch
 * @base_interrupts:  interrupts at the start of the epoch
 * @time:             of each event, as last read; @base_time: at the start of the epoch
 * @time_known:       bit i: the source provides times of event i
 * @core_clock:       in this epoch, measured at merges; only if a clock is sampled
 * @stored:           samples merged in this epoch
 * @accounted:        samples and losses of this epoch that the last commit has stored
 * @accounting:       the same, including the open transaction
 * @replaced:         samples and losses of this epoch that were in a database which no longer
 *                    exists
 * @given_up:         samples of this epoch that could not be merged at its end
 * @pairs:            register pairs of the epoch, and @footprints: of its instructions
 * @recordings_due_ns: time of their next write
 * @regions:          of the data of the epoch; @spaces: mappings of processes, to find them
 * @pairs_unplaced:   pairs that are in no image, or in two
 * @stacks:           call stacks and off-CPU time of the epoch; NULL: not wanted
 * @threads:          of the stacks of the epoch; NULL with @stacks
 * @off_cpu:          NULL: not measured
 * @names:            of sampled procedures; NULL: not wanted
 * @slices:           slices of the epoch that are not completely stored; none: not wanted
 * @unknown:          of all merged samples, by reason
 * @sampling:         the source was started
 * @stopped:          the source is stopped
 * @ended:            by collector_stop() or collector_discard()
 * @unmerged_steps:   remaining steps for merging the last flush; does not include early merges, due
 *                    to lack of memory or on request
 * @drained_ns:       when image events were last read; 0: not yet
 * @drain_gap_ns:     maximum time between such reads in this epoch
 * @commit_ns:        maximum time of a commit
 * @limit:            the kernel's limit on samples, at the last check
 * @slowed:           periods were lengthened while sampling
 */
struct collector {
	struct collector_config config;
	struct host host;
	char reason[SOURCE_REASON_BYTES];
	char label[COLLECTOR_LABEL_BYTES];

	struct profile_writer *writer;
	struct source *source;
	struct archive_policy *policy;
	struct matcher *matcher;
	struct accumulate *accumulate;
	struct edge_accumulate *edges;
	struct pair_store *pairs;
	struct footprint_store *footprints;
	struct region_store *regions;
	struct data_spaces *spaces;
	struct stack_unwinder *stacks;
	struct thread_store *threads;
	struct off_cpu *off_cpu;
	struct merge *merge;
	struct code_capture *capture;
	struct image_names *names;

	uint64_t handed;
	uint64_t entries;
	uint64_t edges_handed;
	uint64_t edges_unknown;
	uint64_t recordings_due_ns;
	uint64_t pairs_unplaced;
	uint64_t unknown[IMAGE_UNKNOWN_NR];
	uint64_t merges;
	uint64_t merge_failures;
	bool merge_failing;
	uint64_t damaged_reported;
	bool throttle_reported;
	bool sampling;
	bool stopped;
	bool ended;

	struct counter_set base;
	uint64_t base_interrupts;
	struct source_time time[DCPI_EVENTS_MAX];
	struct source_time base_time[DCPI_EVENTS_MAX];
	uint32_t time_known;
	struct core_clock core_clock;
	struct counter_set command;
	uint64_t stored;
	uint64_t accounted;
	uint64_t accounting;
	uint64_t replaced;
	uint64_t given_up;
	int64_t epoch_id;
	int64_t epoch_start_ns;
	uint64_t begun_ns; /* start of the first epoch */
	int64_t begun_bytes;
	uint64_t once_ns; /* CPU time of this process before collector_start() */
	uint64_t next_cost_ns;
	uint64_t next_every_ns;
	uint32_t branch_every;
	uint32_t pace;

	struct collector_slices slices;
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
