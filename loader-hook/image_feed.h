/* SPDX-License-Identifier: GPL-2.0-only */
/* Image events, from the best producer that this machine and our privileges allow. */
#ifndef DCPI_IMAGE_FEED_H
#define DCPI_IMAGE_FEED_H

#include <stdbool.h>

#include "loader-hook/image_event.h"

struct error;
struct image_feed;

/** image_feed_name_valid() - "auto", "bpf", "perf" or "audit". */
bool image_feed_name_valid(const char *name);

/**
 * image_feed_open() - begin to record
 * @ret:        out; freed by image_feed_close()
 * @name:       "bpf" (bpf_hook.h), "perf" (side_band.h), "audit" (audit_feed.h), or
 *              "auto": for the whole machine the first of these that can be had
 * @socket:     as for audit_feed_open(); NULL or "": audit cannot be had
 * @target_pid: as for side_band_open(); a target is followed by perf alone
 *
 * One of them is used, never two. What the others tell beside the kernel's is known
 * already; and where the kernel has lost events they could not say what has been
 * since, for an exec of a program without the library is told by nobody.
 *
 * Return: 0; -EINVAL no such name, or another one than perf and a target; else the
 * producer's error.
 */
int image_feed_open(struct image_feed **ret, const char *name, const char *socket,
		    uint32_t target_pid, struct error *err);

/** image_feed_close() - NULL is fine. */
void image_feed_close(struct image_feed *feed);

/** image_feed_name() - "bpf", "perf" or "audit". */
const char *image_feed_name(const struct image_feed *feed);

/** image_feed_reason() - one line: how it is attached, or why it is not a better one. */
const char *image_feed_reason(const struct image_feed *feed);

/** image_feed_poll_fd() - readable when much is waiting. */
int image_feed_poll_fd(struct image_feed *feed);

/**
 * image_feed_drain() - deliver what has been recorded
 *
 * After a loss the caller reads processes from /proc: those that IMAGE_EVENT_LOST names, and all
 * of them if image_feed_must_scan() says so.
 *
 * Return: as side_band_drain().
 */
uint64_t image_feed_drain(struct image_feed *feed, image_event_fn handle, void *context);

/**
 * image_feed_must_scan() - Return: whether events of processes that are not named may be missing
 * since the last call
 */
bool image_feed_must_scan(struct image_feed *feed);

/** image_feed_lost() - events lost so far. */
uint64_t image_feed_lost(const struct image_feed *feed);

#endif
