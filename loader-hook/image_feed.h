/* SPDX-License-Identifier: GPL-2.0-only */
/* Image events from the best producer that this machine and the caller's privileges allow. */
#ifndef DCPI_IMAGE_FEED_H
#define DCPI_IMAGE_FEED_H

#include <stdbool.h>

#include "loader-hook/image_event.h"

struct error;
struct image_feed;

/** image_feed_name_valid() - return true for "auto", "bpf", "perf" and "audit" */
bool image_feed_name_valid(const char *name);

/**
 * image_feed_open() - begin to record
 * @ret:        out; freed by image_feed_close()
 * @name:       "bpf" (bpf_hook.h), "perf" (side_band.h), "audit" (audit_feed.h), or "auto": for the
 *              whole machine the first of these that can be opened
 * @socket:     as for audit_feed_open(); NULL or "": audit is not available
 * @target_pid: as for side_band_open(); only perf can follow a target
 *
 * Only one producer is used at a time. The events of a second one would duplicate those of the
 * kernel. It could not replace events that the kernel lost either, because no other producer
 * reports the exec of a program without the library.
 *
 * Return: 0; -EINVAL: no such name, or a target and a producer other than perf; else the producer's
 * error.
 */
int image_feed_open(struct image_feed **ret, const char *name, const char *socket,
		    uint32_t target_pid, struct error *err);

/** image_feed_close() - stop recording; @feed may be NULL */
void image_feed_close(struct image_feed *feed);

/** image_feed_name() - return the name of the producer: "bpf", "perf" or "audit" */
const char *image_feed_name(const struct image_feed *feed);

/** image_feed_reason() - return one line: how it is attached, or why a better one is not used */
const char *image_feed_reason(const struct image_feed *feed);

/** image_feed_poll_fd() - descriptor that is readable when many records wait */
int image_feed_poll_fd(struct image_feed *feed);

/**
 * image_feed_refuse() - drop changes of mappings that @refuses refuses, as early as the producer
 * can
 *
 * Events of the loader hook are delivered regardless.
 */
void image_feed_refuse(struct image_feed *feed, image_event_refuse_fn refuses, void *context);

/**
 * image_feed_drain() - deliver the recorded events
 *
 * After a loss the caller reads processes from /proc: those that IMAGE_EVENT_LOST names, and all
 * processes if image_feed_must_scan() returns true.
 *
 * Return: as side_band_drain().
 */
uint64_t image_feed_drain(struct image_feed *feed, image_event_fn handle, void *context);

/**
 * image_feed_must_scan() - return true if events of unnamed processes may have been lost since the
 * last call
 */
bool image_feed_must_scan(struct image_feed *feed);

/** image_feed_lost() - number of events lost so far */
uint64_t image_feed_lost(const struct image_feed *feed);

#endif
