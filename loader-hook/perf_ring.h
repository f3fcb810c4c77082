/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One perf_event_open() descriptor and its ring buffer.
 *
 * Used for side-band records (side_band.c) and for samples (the daemon's perf
 * source). A record is handed out whole, whether or not it wraps; its size is
 * checked against what the kernel has published.
 *
 *	while ((record = perf_ring_next(ring)) != NULL)
 *		...
 *	perf_ring_consumed(ring);
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

/**
 * perf_ring_map() - map the ring of a descriptor that is open already
 * @fd: becomes the ring's, unless the call fails
 */
int perf_ring_map(struct perf_ring **ret, int fd, size_t pages, struct error *err);

/** perf_ring_close() - unmap and close. NULL is fine. */
void perf_ring_close(struct perf_ring *ring);

/**
 * perf_ring_collect() - move records from the ring into memory, where perf_ring_next() finds them
 *
 * The kernel then has room for others. A thread other than the ring's owner
 * (loader-hook/ring_reader.h) may call this function and perf_ring_held(), and no other.
 *
 * Return: bytes moved; 0 also if there is no memory for them.
 */
size_t perf_ring_collect(struct perf_ring *ring);

/** perf_ring_waiting() - bytes in the ring that are neither read nor in memory. */
size_t perf_ring_waiting(const struct perf_ring *ring);

/** perf_ring_held() - bytes in memory that perf_ring_consumed() has not freed. */
size_t perf_ring_held(struct perf_ring *ring);

/** perf_ring_fd() - the descriptor, for poll and ioctl; stays the ring's. */
int perf_ring_fd(const struct perf_ring *ring);

/**
 * perf_ring_next() - the next record of the batch
 *
 * A batch is what the kernel had published when its first record was asked
 * for, so that it ends however fast the kernel writes. perf_ring_consumed()
 * ends it; the next call begins another. Records that perf_ring_collect() has moved into
 * memory come first.
 *
 * Return: the record, aligned to eight bytes, valid until the next call or
 * perf_ring_consumed(); NULL at the end of the batch. A malformed record ends
 * the batch, and what followed it is dropped (perf_ring_dropped()).
 */
const struct perf_event_header *perf_ring_next(struct perf_ring *ring);

/**
 * perf_ring_put_back() - the record returned last will be returned once more
 *
 * A perf_ring_consumed() that follows leaves it in the ring. Only after
 * perf_ring_next() has returned a record of this batch, and once for each.
 */
void perf_ring_put_back(struct perf_ring *ring);

/**
 * perf_ring_pressed() - whether the kernel may have refused a record
 *
 * True if with the record that perf_ring_next() returned last, or, @all, with
 * all that there is by now, the ring had no room for a record of the largest size.
 * The kernel's own word (PERF_RECORD_LOST) comes with the next record that there is room
 * for, which may be much later.
 */
bool perf_ring_pressed(const struct perf_ring *ring, bool all);

/** perf_ring_consumed() - tell the kernel that everything returned so far may be overwritten. */
void perf_ring_consumed(struct perf_ring *ring);

/** perf_ring_dropped() - bytes dropped, since the last call, because they made no sense. */
uint64_t perf_ring_dropped(struct perf_ring *ring);

/**
 * perf_ring_stands() - whether a CPU's event has not been enabled since the last call
 *
 * One that nobody has disabled has lost its CPU for good: the CPU was offline, if only
 * for a moment, and perf gives it nothing back. Interrupts the CPU: once a second will
 * do. For events whose read_format begins with PERF_FORMAT_TOTAL_TIME_ENABLED; a first
 * call says false.
 */
bool perf_ring_stands(struct perf_ring *ring);

#endif
