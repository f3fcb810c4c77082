/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Image events from perf's side-band records: mmap2 (with device, inode and the inode's
 * generation), comm, fork and exit. The records are of the whole machine or of one process tree,
 * without any samples.
 */
#ifndef DCPI_SIDE_BAND_H
#define DCPI_SIDE_BAND_H

#include "loader-hook/image_event.h"

struct error;
struct side_band;

/**
 * side_band_open() - begin to record
 * @ret:        out; freed by side_band_close()
 * @target_pid: 0: the whole machine (requires CAP_PERFMON or perf_event_paranoid <= 0); else this
 *              process and its future descendants, from its next exec on
 */
int side_band_open(struct side_band **ret, uint32_t target_pid, struct error *err);

/**
 * side_band_open_kernel_code() - record code that the kernel generates, for the whole machine
 *
 * The events are IMAGE_EVENT_KERNEL_CODE. They have the time of the drain before, because their
 * records carry no time.
 */
int side_band_open_kernel_code(struct side_band **ret, struct error *err);

/** side_band_close() - stop recording; @band may be NULL */
void side_band_close(struct side_band *band);

/** side_band_poll_fd() - an epoll descriptor that is readable when many records wait */
int side_band_poll_fd(struct side_band *band);

/** side_band_refuse() - drop changes of mappings that @refuses refuses, before they are parsed */
void side_band_refuse(struct side_band *band, image_event_refuse_fn refuses, void *context);

/**
 * side_band_drain() - deliver the recorded events
 *
 * Events of all CPUs are merged in order of time, up to the start of the drain; younger ones are
 * left for the next drain. An EXIT is that of a whole process, regardless of the order in which its
 * threads end. If the kernel may have had no room for a record, or a CPU came or went meanwhile, a
 * LOST comes last and gives the interval. CPUs that come online are recorded afterwards; a CPU that
 * was offline between two drains is noticed after about two seconds.
 *
 * Return: the time (CLOCK_MONOTONIC, ns) up to which the delivered events are complete: every event
 * on which an earlier sample depends has been delivered.
 */
uint64_t side_band_drain(struct side_band *band, image_event_fn handle, void *context);

/**
 * side_band_gaps() - number of LOST events so far
 *
 * If this number or that of dropped records has grown, process_scan() of all processes reports the
 * missing mappings.
 */
uint64_t side_band_gaps(const struct side_band *band);

/**
 * side_band_lost() - number of losses so far: records that the kernel reported as dropped because a
 * ring was full, and times that a ring's contents were malformed
 */
uint64_t side_band_lost(const struct side_band *band);

#endif
