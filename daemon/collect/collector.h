/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The collector: a source, the image map beside it, and the way into the
 * database. dcpid and dcpirun are loops around it.
 *
 *	collector_open()	everything is reserved, nothing sampled
 *	collector_start()
 *	  collector_drain()	when collector_poll_fds() are readable
 *	  collector_tick()	at a fixed interval: drains, flushes, merges
 *	collector_stop()	last drain, last merge, end of the epoch
 *	collector_close()
 *
 * Order. Image events are read before samples, and samples only up to the time
 * for which the events are complete; so whatever a sample saw is in the image
 * map when it is looked up. A process that ended is forgotten only after a
 * flush, when no sample of its can be on its way any more.
 *
 * Accounting. At each commit the database holds, for the current epoch,
 *
 *	interrupts = samples in profiles + sum of "loss" counters
 *
 * where the loss "pending" is what is in memory, waiting to be merged: zero
 * when the epoch has ended in good order, and what a crash has cost otherwise.
 * Samples that a running source has not handed over when an epoch ends are
 * counted in the next one. Other losses: the source's own; "memory", refused
 * because merging failed for so long that the memory limit was reached;
 * "storage", still in memory when the collector stopped and could not merge.
 *
 * Edges are counted apart, in "stat" counters, where there are any:
 *
 *	edges_handed = edges in the database + edges_unknown + edges_memory +
 *		       edges_pending + edges_storage
 *
 * edges_unknown: an end of theirs is in no image; the others as for samples.
 *
 * Times. With each commit the database learns how long each event was to be
 * counted in this epoch, and how long it was, if the source can tell.
 *
 * Merging. Each bin is merged once in a merge interval, a sixth of them at a
 * time, so that there are no bursts. A merge that fails (disk full, I/O error)
 * leaves everything in memory and is tried again a sixth of an interval later.
 */
#ifndef DCPI_COLLECTOR_H
#define DCPI_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/archive/image_keeper.h"
#include "daemon/base/tally.h"
#include "daemon/event/event.h"

struct collector;
struct error;
struct trace_writer;

/**
 * struct collector_config - what to collect, and where to
 * @db:             path of the database; created if missing
 * @source:         "auto", "kmod", "bpf", "perf" or "replay"
 * @image_events:   as for image_feed_open(); NULL: "auto"
 * @audit_socket:   likewise; NULL: none
 * @events:         resolved
 * @cpu_hz:         event_cpu_hz()
 * @sample_cost_ns: what a sample costs, kept with each epoch as stat of that
 *                  name; 0: not known
 * @overhead_percent: what sampling may cost of a CPU, for events with default periods
 * @overhead_ns:    how often what a sample costs is measured again; if it has changed,
 *                  an epoch with other periods begins. 0: never
 * @table_entries:  of each CPU's store; 0: the default
 * @buffer_entries: likewise
 * @memory_limit:   bytes of samples that may wait for a merge
 * @merge_ns:       merge interval
 * @per_process:    images to keep profiles by process for: NULL or "none",
 *                  "all", or patterns of paths (glob(7), "*" crosses "/"),
 *                  separated by blanks
 * @per_unit:       likewise, by unit: not those that are kept by process, and
 *                  only with @units
 * @units:          whether to keep the labels of processes
 * @label:          of the epoch
 * @target_pid:     0: the whole machine; else as in struct source_config
 * @user_only:      likewise
 * @branch_every:   likewise; if set, a quarter of @memory_limit is for edges
 * @double_every:   likewise
 * @double_period:  likewise; not looked at without @double_every
 * @handler_times:  likewise
 * @record:         likewise
 * @replay:         likewise
 * @image_store:    images to keep copies of, as @per_process; not looked at with
 *                  a trace
 * @image_store_bytes: room for them; 0: none are kept
 * @retention_ns:   epochs that ended so long ago are forgotten; 0: none for their age
 * @database_bytes: room for the database: beyond it the oldest epochs are forgotten;
 *                  0: no limit
 * @epoch_ns:       another epoch begins so often; 0: when asked for only
 *
 * Strings must stay valid until collector_close().
 */
struct collector_config {
	const char *db;
	const char *source;
	const char *image_events;
	const char *audit_socket;
	struct event_list events;
	uint64_t cpu_hz;
	uint64_t sample_cost_ns;
	uint64_t overhead_percent;
	uint64_t overhead_ns;
	uint32_t table_entries;
	uint32_t buffer_entries;
	size_t memory_limit;
	uint64_t merge_ns;
	const char *per_process;
	const char *per_unit;
	bool units;
	const char *label;
	uint32_t target_pid;
	bool user_only;
	uint32_t branch_every;
	uint32_t double_every;
	uint32_t double_period;
	bool handler_times;
	struct trace_writer *record;
	const char *replay;
	const char *image_store;
	uint64_t image_store_bytes;
	uint64_t retention_ns;
	uint64_t database_bytes;
	uint64_t epoch_ns;
};

/**
 * collector_open() - open database, source and image events
 *
 * Return: 0; errors of profile_writer_open(), source_select_open() and
 * image_feed_open().
 */
int collector_open(struct collector **ret, const struct collector_config *config,
		   struct error *err);

/** collector_start() - begin an epoch and sample. */
int collector_start(struct collector *collector, struct error *err);

/** collector_poll_fds() - descriptors to wait for: the source's and that of the image events. */
void collector_poll_fds(struct collector *collector, int fds[2]);

/** collector_drain() - take what is ready; never touches the disk. */
int collector_drain(struct collector *collector, struct error *err);

/**
 * collector_tick() - drain, and do what is due: flush, expire, merge
 *
 * Also looks whether the kernel has lowered its limit on samples, and now and then
 * what a sample costs; if so, an epoch with other periods begins (not with a target,
 * whose running children would keep theirs). An epoch also ends when it is old enough,
 * and when the clock is set, by a minute or more; what is too old or too much in the
 * database is forgotten, a little with each call. Failed merges are logged and counted, not
 * returned.
 */
int collector_tick(struct collector *collector, struct error *err);

/** collector_flush() - take and merge everything collected so far. */
int collector_flush(struct collector *collector, struct error *err);

/**
 * collector_epoch() - flush, end the epoch and begin the next
 * @label: of the next one; copied
 */
int collector_epoch(struct collector *collector, const char *label, struct error *err);

/** collector_divide() - the texts behind @per_process and @per_unit have changed. */
void collector_divide(struct collector *collector);

/**
 * collector_slowed() - whether periods were lengthened since collector_open()
 *
 * They are never shortened again: a collector opened anew may try.
 */
bool collector_slowed(const struct collector *collector);

/**
 * collector_stop() - stop sampling, take and merge everything, end the epoch
 *
 * Return: 0, or the error of the last merge: the samples are lost, by name if
 * the database can still be told.
 */
int collector_stop(struct collector *collector, struct error *err);

/** collector_close() - free everything; without collector_stop(), like a crash. NULL is fine. */
void collector_close(struct collector *collector);

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
 * @epoch:            number of the epoch; @start_ns: when it began
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
 * @merge_failing: the database cannot be written now
 * @grown_bytes: by what its file has grown since collector_start()
 * @memory_bytes:     used by waiting samples and by the image map
 * @retention:        of the database
 * @keeps_images:     whether copies of images are kept; @store: of these
 */
struct collector_status {
	const char *source;
	const char *reason;
	const struct event_list *events;
	int64_t epoch;
	int64_t start_ns;
	uint64_t taken;
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
	bool merge_failing;
	int64_t grown_bytes;
	size_t memory_bytes;
	struct collector_retention_status retention;
	bool keeps_images;
	struct image_keeper_status store;
};

/**
 * collector_event_time() - how long an event was counted
 * @event: its index
 *
 * Return: 0; -ENODATA the source cannot tell.
 */
int collector_event_time(struct collector *collector, size_t event, struct source_time *time);

/** collector_status() - as of the last drain; pointers valid until collector_close(). */
void collector_status(struct collector *collector, struct collector_status *status);

#endif
