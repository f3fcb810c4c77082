/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that empties perf rings into memory, for a reader that may not run in time.
 *
 * On a machine with many more busy processes than CPUs, a reader gets a CPU for a few milliseconds
 * per second, and the rings that a user may lock hold about one second of samples. This thread only
 * copies: it takes so little time that the scheduler runs it soon after it is woken. Where
 * permitted, it runs before all others (nice -20).
 *
 * The owner of a ring reads it as before (loader-hook/perf/perf_ring.h).
 */
#ifndef DCPI_RING_READER_H
#define DCPI_RING_READER_H

struct error;
struct perf_ring;
struct ring_reader;

/** ring_reader_open() - start the thread; @ret is freed by ring_reader_close() */
int ring_reader_open(struct ring_reader **ret, struct error *err);

/** ring_reader_close() - end the thread; all rings must have been removed. @reader may be NULL */
void ring_reader_close(struct ring_reader *reader);

/**
 * ring_reader_add() - start to empty a ring
 * @ring: must not be closed before ring_reader_remove()
 *
 * Return: 0, or an error, in which case nothing is changed.
 */
int ring_reader_add(struct ring_reader *reader, struct perf_ring *ring, struct error *err);

/**
 * ring_reader_remove() - stop emptying a ring, which may then be closed; unknown rings are ignored
 */
void ring_reader_remove(struct ring_reader *reader, const struct perf_ring *ring);

/**
 * ring_reader_fd() - edge-triggered descriptor that is readable when many records are in memory
 *
 * The descriptor is owned by the reader. At most 32 MiB are held in memory; beyond that, records
 * stay in the rings, and the kernel counts those that do not fit there.
 */
int ring_reader_fd(const struct ring_reader *reader);

#endif
