/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The collector: a source, the image map, and the path of samples into the database. dcpid and
 * dcpirun run it in an event loop.
 *
 *	collector_open()	everything is reserved, nothing sampled
 *	collector_start()
 *	  collector_drain()	when collector_poll_fds() are readable
 *	  collector_tick()	at a fixed interval: drains, flushes, merges
 *	collector_stop()	last drain, last merge, end of the epoch
 *	collector_close()
 *
 * Order. Image events are read before samples, and samples only up to the time for which the events
 * are complete. So the mappings that a sample saw are in the image map when it is looked up. A
 * process that has exited is removed only after a flush, when none of its samples can still arrive.
 *
 * Accounting. At each commit the database contains, for the current epoch,
 *
 *	interrupts = samples in profiles + sum of "loss" counters
 *
 * where the loss "pending" is the samples in memory, waiting to be merged: zero if the epoch has
 * ended normally, and otherwise the number lost in a crash. Samples that a running source has not
 * passed on when an epoch ends are counted in the next one. Other losses are the source's own, and
 * these. "memory": refused because merging failed for so long that the memory limit was reached.
 * "storage": still in memory when the collector stopped and could not merge. "database_replaced":
 * stored in a database that no longer exists (collector_database.h).
 *
 * Edges are counted separately, in "stat" counters, if there are any:
 *
 *	edges_handed = edges in the database + edges_unknown + edges_memory +
 *		       edges_pending + edges_storage
 *
 * edges_unknown: edges with an end that is in no image; the others as for samples.
 *
 * Times. Each commit stores how long each event was enabled in this epoch, and how long it was
 * counted, if the source provides these times.
 *
 * Merging. Each bin is merged once in a merge interval, a sixth of the bins at a time, to avoid
 * bursts. If a merge fails (disk full, I/O error, a database locked by another program for a tenth
 * of a second), everything stays in memory, and the merge is repeated a sixth of an interval later.
 */
#ifndef DCPI_COLLECTOR_H
#define DCPI_COLLECTOR_H

#include "daemon/collect/collector_config.h"
#include "daemon/collect/collector_status.h"

struct collector;
struct error;
struct near_names;
struct source_time;

/**
 * collector_open() - open database, source and image events
 *
 * Return: 0; errors of profile_writer_open(), source_select_open() and
 * image_feed_open().
 */
int collector_open(struct collector **ret, const struct collector_config *config,
		   struct error *err);

/**
 * collector_start() - begin an epoch and sample
 *
 * With @scan_in_steps, sampling begins in collector_drain() or collector_tick(), when all running
 * processes are known, at most three seconds later.
 */
int collector_start(struct collector *collector, struct error *err);

#define COLLECTOR_POLL_FDS 3

/**
 * collector_poll_fds() - return the descriptors to poll: the source's, that of image events, and
 * that of off-CPU time, which is -1 if it is not measured
 */
void collector_poll_fds(struct collector *collector, int fds[COLLECTOR_POLL_FDS]);

/** collector_drain() - process the samples that are ready; never accesses the disk. */
int collector_drain(struct collector *collector, struct error *err);

/** collector_is_busy() - return true if collector_drain() should be called without waiting. */
bool collector_is_busy(const struct collector *collector);

/**
 * collector_tick() - drain, and do everything that is due: flush, expire, merge
 *
 * Also checks whether the kernel has lowered its limit on samples and, at intervals, the cost of a
 * sample. After a change an epoch with other periods begins (not with a target, whose running
 * children would keep theirs). An epoch also ends when it has reached its maximum age, and when the
 * clock is set by a minute or more. Data in the database that exceed their age or size limit are
 * deleted, in small steps. Failed merges are logged and counted, not returned.
 */
int collector_tick(struct collector *collector, struct error *err);

/**
 * collector_pace() - return the number of the caller's intervals between two calls of
 * collector_tick()
 *
 * 1, and more if the total cost exceeds its limit. Merges become less frequent in proportion.
 */
uint32_t collector_pace(const struct collector *collector);

/** collector_flush() - drain and merge everything collected so far. */
int collector_flush(struct collector *collector, struct error *err);

/**
 * collector_epoch() - flush, end the epoch and begin the next one
 * @label: of the next epoch; copied
 */
int collector_epoch(struct collector *collector, const char *label, struct error *err);

/**
 * collector_images_crowded() - return true if the numbers of images are running out
 *
 * Then another collector should take over before they do. Returns false while merges fail, because
 * the samples in memory would be lost, and for traces, which would be replayed again.
 */
bool collector_images_crowded(const struct collector *collector);

/**
 * collector_find_image() - return true if a known image matches a pattern, as path_match()
 * @near: the pattern; out: near names of images, if none matches
 */
bool collector_find_image(const struct collector *collector, struct near_names *near);

/** collector_divide() - re-read the patterns @per_process and @per_unit, which have changed. */
void collector_divide(struct collector *collector);

/**
 * collector_slowed() - return true if periods were lengthened since collector_open()
 *
 * They are never shortened again; a new collector may try the original ones.
 */
bool collector_slowed(const struct collector *collector);

/**
 * collector_command_set() - store counts of the profiled command with the epoch
 * @counts: copied; their groups are not those of the collector
 *
 * Call this before collector_stop().
 */
void collector_command_set(struct collector *collector, const struct counter_set *counts);

/**
 * collector_stop() - stop sampling, drain and merge everything, end the epoch
 *
 * Return: 0, or the error of the last merge: the samples are lost, and counted as loss if the
 * database can still be written.
 */
int collector_stop(struct collector *collector, struct error *err);

/**
 * collector_discard() - stop sampling, and delete the epoch, which is useless
 *
 * Call this instead of collector_stop().
 */
int collector_discard(struct collector *collector, struct error *err);

/**
 * collector_close() - free everything; without collector_stop(), like a crash. @collector may be
 * NULL.
 */
void collector_close(struct collector *collector);

/**
 * collector_event_time() - return how long an event was counted in this epoch
 * @event: its index
 *
 * Return: 0; -ENODATA if the source does not provide it.
 */
int collector_event_time(struct collector *collector, size_t event, struct source_time *time);

/**
 * collector_status() - return the status as of the last drain; pointers are valid until
 * collector_close().
 */
void collector_status(struct collector *collector, struct collector_status *status);

/**
 * collector_images_finish() - copy images that have samples and no copy
 *
 * For the end of a run; see archive_policy_finish().
 *
 * Return: true if no copy is in progress; otherwise call it again.
 */
bool collector_images_finish(struct collector *collector);

/**
 * collector_samples_gone() - return the number of samples in files that no longer exist and have no
 * copy
 *
 * See archive_policy_gone().
 */
uint64_t collector_samples_gone(struct collector *collector);

#endif
