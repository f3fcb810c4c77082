/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One perf_event_open() descriptor and its ring buffer.
 *
 * Used for side-band records (side_band.c) and for samples (the daemon's perf
 * source). Records are copied out of the ring one at a time, whole, whether or
 * not they wrap; their sizes are checked against the ring.
 */
#ifndef DCPI_PERF_RING_H
#define DCPI_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct perf_event_attr;
struct perf_event_header;
struct perf_ring;

/**
 * perf_ring_open() - open an event and map its ring
 * @ret:   out; freed by perf_ring_close()
 * @attr:  as for perf_event_open(2); its size field is set here
 * @pid:   as for perf_event_open(2)
 * @cpu:   likewise
 * @pages: data pages of the ring, a power of two
 *
 * Return: 0, or the system call's error; the message says what to do about
 * permissions (perf_event_paranoid).
 */
int perf_ring_open(struct perf_ring **ret, const struct perf_event_attr *attr, int pid, int cpu,
		   size_t pages, struct error *err);

/** perf_ring_close() - unmap and close. NULL is fine. */
void perf_ring_close(struct perf_ring *ring);

/** perf_ring_fd() - the descriptor, for poll and ioctl; stays the ring's. */
int perf_ring_fd(const struct perf_ring *ring);

/**
 * perf_ring_next() - the next record
 *
 * Return: the record, valid until the next call or perf_ring_consumed(); NULL
 * if there is none now. Malformed contents end the batch.
 */
const struct perf_event_header *perf_ring_next(struct perf_ring *ring);

/** perf_ring_consumed() - tell the kernel that everything returned so far may be overwritten. */
void perf_ring_consumed(struct perf_ring *ring);

#endif
