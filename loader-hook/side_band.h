/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Image events from perf's side-band records: mmap2 (with device, inode and its
 * generation), comm, fork and exit, for the whole machine or for one process tree,
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
 * @target_pid: 0: the whole machine (CAP_PERFMON or perf_event_paranoid <= 0);
 *              else this process and its future descendants, from its next
 *              exec on
 */
int side_band_open(struct side_band **ret, uint32_t target_pid, struct error *err);

/**
 * side_band_open_kernel_code() - record the code that the kernel makes, of the whole machine
 *
 * These are IMAGE_EVENT_KERNEL_CODE, with the time of the drain before, because their records
 * have no time of their own.
 */
int side_band_open_kernel_code(struct side_band **ret, struct error *err);

/** side_band_close() - NULL is fine. */
void side_band_close(struct side_band *band);

/** side_band_poll_fd() - an epoll descriptor, readable when much is waiting. */
int side_band_poll_fd(struct side_band *band);

/**
 * side_band_drain() - deliver what has been recorded
 *
 * Events of all CPUs are merged in order of time, up to the moment that the
 * drain began; what is younger is left for the next one. An EXIT is that of a
 * whole process, however its threads end. Where the kernel may have had no room
 * for an event, or a CPU came or went meanwhile, a LOST comes last and says from when
 * to when. CPUs that come online are recorded from then on; one that was offline
 * between two drains is noticed after about two seconds.
 *
 * Return: the time (CLOCK_MONOTONIC, ns) up to which the delivered events are
 * complete: whatever a sample made before then depends on has been delivered.
 */
uint64_t side_band_drain(struct side_band *band, image_event_fn handle, void *context);

/**
 * side_band_doubts() - LOST events so far
 *
 * When the number has grown, or that of records dropped, process_scan() of all processes reports
 * the missing mappings.
 */
uint64_t side_band_doubts(const struct side_band *band);

/**
 * side_band_lost() - records the kernel dropped because a ring was full, as far as it has told,
 * and times that a ring's contents made no sense
 */
uint64_t side_band_lost(const struct side_band *band);

#endif
