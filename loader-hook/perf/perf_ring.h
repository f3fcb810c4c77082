/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One perf_event_open() descriptor and its ring buffer.
 *
 * Used for side-band records (side_band.c) and for samples (the daemon's perf source). Records that
 * wrap are returned in contiguous memory; the size of a record is checked against the data that the
 * kernel has published.
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
 * @cpu:   as for perf_event_open(2)
 * @pages: data pages of the ring, a power of two
 *
 * Return: 0, or the system call's error; the message says what to do about permissions
 * (perf_event_paranoid).
 */
int perf_ring_open(struct perf_ring **ret, const struct perf_event_attr *attr, int pid, int cpu,
		   size_t pages, struct error *err);

/**
 * perf_ring_map() - map the ring of a descriptor that is already open
 * @fd: becomes owned by the ring, unless the call fails
 */
int perf_ring_map(struct perf_ring **ret, int fd, size_t pages, struct error *err);

/** perf_ring_close() - unmap and close; @ring may be NULL */
void perf_ring_close(struct perf_ring *ring);

/**
 * perf_ring_shorten_fn() - shorten a record that is to be kept in memory
 * @record: complete and contiguous; may be changed
 *
 * Return: its new size, a multiple of eight bytes that is not larger.
 */
typedef uint16_t (*perf_ring_shorten_fn)(struct perf_event_header *record);

/** perf_ring_shorten() - have perf_ring_collect() shorten records; call this before it */
void perf_ring_shorten(struct perf_ring *ring, perf_ring_shorten_fn shorten);

/**
 * perf_ring_collect() - move records from the ring into memory, where perf_ring_next() finds them
 *
 * The kernel then has room for others. A thread other than the ring's owner
 * (loader-hook/perf/ring_reader.h) may call this function and perf_ring_held(), and no other.
 *
 * Return: bytes moved; 0 also if there is no memory for them.
 */
size_t perf_ring_collect(struct perf_ring *ring);

/** perf_ring_held() - bytes in memory that perf_ring_consumed() has not freed */
size_t perf_ring_held(struct perf_ring *ring);

/** perf_ring_fd() - the descriptor, for poll and ioctl; owned by the ring */
int perf_ring_fd(const struct perf_ring *ring);

/**
 * perf_ring_next() - return the next record of the batch
 *
 * A batch consists of the records that the kernel had published when the first of them was
 * requested, so it ends regardless of how fast the kernel writes. perf_ring_consumed() ends a
 * batch; the next call begins another. Records that perf_ring_collect() has moved into memory come
 * first.
 *
 * Return: the record, aligned to eight bytes, valid until the next call or perf_ring_consumed();
 * NULL at the end of the batch. A malformed record ends the batch, and the records that follow it
 * are dropped (perf_ring_dropped()).
 */
const struct perf_event_header *perf_ring_next(struct perf_ring *ring);

/**
 * perf_ring_put_back() - make perf_ring_next() return the last record again
 *
 * A perf_ring_consumed() that follows leaves the record in the ring. May be called only after
 * perf_ring_next() has returned a record of this batch, and once for each record.
 */
void perf_ring_put_back(struct perf_ring *ring);

/**
 * perf_ring_is_nearly_full() - return true if the kernel may have refused a record
 * @all: take into account all records published so far, not only those up to the last one returned
 *
 * True if the records up to that point left no room in the ring for a record of the largest size.
 * The kernel reports a loss itself (PERF_RECORD_LOST), but only with the next record that finds
 * room, which may be much later.
 */
bool perf_ring_is_nearly_full(const struct perf_ring *ring, bool all);

/** perf_ring_consumed() - release the room of all records returned so far to the kernel */
void perf_ring_consumed(struct perf_ring *ring);

/** perf_ring_dropped() - bytes of malformed records dropped since the last call */
uint64_t perf_ring_dropped(struct perf_ring *ring);

/**
 * perf_ring_stands() - return true if a CPU's event has not been enabled since the last call
 *
 * An event that stopped without being disabled has lost its CPU permanently: the CPU was offline,
 * if only briefly, and perf does not attach the event to it again. Each call interrupts the CPU, so
 * one call per second is enough. Only for events whose read_format begins with
 * PERF_FORMAT_TOTAL_TIME_ENABLED; the first call returns false.
 */
bool perf_ring_stands(struct perf_ring *ring);

#endif
