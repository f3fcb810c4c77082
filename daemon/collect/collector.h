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
 * "database_replaced": stored in a database that is gone (collector_database.h).
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
 * time, so that there are no bursts. A merge that fails (disk full, I/O error, a
 * database that another program has locked for a tenth of a second) leaves everything
 * in memory and is tried again a sixth of an interval later.
 */
#ifndef DCPI_COLLECTOR_H
#define DCPI_COLLECTOR_H

#include "daemon/collect/collector_config.h"
#include "daemon/collect/collector_status.h"

struct collector;
struct error;
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
 * With @scan_in_steps sampling begins in collector_drain() or collector_tick(), when the processes
 * that run already are known, at most three seconds later.
 */
int collector_start(struct collector *collector, struct error *err);

/** collector_poll_fds() - descriptors to wait for: the source's and that of the image events. */
void collector_poll_fds(struct collector *collector, int fds[2]);

/** collector_drain() - take what is ready; never touches the disk. */
int collector_drain(struct collector *collector, struct error *err);

/** collector_is_busy() - whether collector_drain() should be called without waiting. */
bool collector_is_busy(const struct collector *collector);

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

/**
 * collector_images_crowded() - whether the numbers of images run short
 *
 * Then another collector should take over before they do. Not while merges fail: what
 * waits to be merged would be lost; nor where a trace would be replayed again.
 */
bool collector_images_crowded(const struct collector *collector);

/** collector_has_image() - whether an image met so far matches a pattern, as path_match(). */
bool collector_has_image(const struct collector *collector, const char *pattern);

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

/**
 * collector_discard() - stop sampling, and take the epoch back: it is of nothing
 *
 * In place of collector_stop().
 */
int collector_discard(struct collector *collector, struct error *err);

/** collector_close() - free everything; without collector_stop(), like a crash. NULL is fine. */
void collector_close(struct collector *collector);

/**
 * collector_event_time() - how long an event was counted in this epoch
 * @event: its index
 *
 * Return: 0; -ENODATA the source cannot tell.
 */
int collector_event_time(struct collector *collector, size_t event, struct source_time *time);

/** collector_status() - as of the last drain; pointers valid until collector_close(). */
void collector_status(struct collector *collector, struct collector_status *status);

/** collector_samples_gone() - samples of files that are gone and have no copy; see
 * image_keeper_gone() */
uint64_t collector_samples_gone(struct collector *collector);

#endif
