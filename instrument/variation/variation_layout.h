/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread's area (mode.h) in variation mode: the path that is being timed, and the measurements of
 * each path. No libc, fixed widths.
 */
#ifndef DCPI_INSTRUMENT_VARIATION_LAYOUT_H
#define DCPI_INSTRUMENT_VARIATION_LAYOUT_H

#include <stddef.h>

#include "instrument/profile/profile_layout.h"

/*
 * Maximum number of paths of a thread; more are counted as @overflow. A hash table of twice the
 * size finds them, while the entries themselves are contiguous: most programs have few, and the
 * first access to a page of a file takes some 3 us.
 */
#define VARIATION_ENTRIES UINT32_C(4096)
#define VARIATION_PLACE_BITS 13
#define VARIATION_PROBES UINT32_C(64)
#define VARIATION_PLACES ((UINT32_C(1) << VARIATION_PLACE_BITS) + VARIATION_PROBES)

/* A histogram of times: exact below 16 cycles, then eight buckets for each power of two. */
#define VARIATION_BUCKETS 104
#define VARIATION_EXACT 16

/*
 * A path that takes at least this time was interrupted: it is some 10 us, and a path contains no
 * calls and no system calls. Page faults are shorter, preemption is longer.
 */
#define VARIATION_LONG (UINT64_C(1) << 15)

/* No path's number (path_graph.h), after any additions on edges. */
#define VARIATION_NO_PATH UINT32_C(0x80000000)

/* Operations of the runtime's slow path, and its parameters. */
enum variation_operation {
	VARIATION_OPERATION_END,
	VARIATION_OPERATION_JUMP, /* the path that follows is to be timed, too */
	VARIATION_OPERATIONS,
};

enum variation_parameter {
	VARIATION_CHECKS, /* checks between two timed paths; 0: all are timed */
};

/**
 * struct variation_entry - measurements of a path
 * @key:   number of the procedure in the map + 1 in the upper half, the path's number in the lower
 *         32 bits; 0: free
 * @count: measured executions, without interrupted ones: as many as are in @buckets, or fewer if a
 *         signal handler ran during the update
 * @total: cycles of these executions, and @least: of the fastest, at least 1
 * @interrupted, @interrupted_total: executions of VARIATION_LONG and above, and their cycles
 */
struct variation_entry {
	uint64_t key;
	uint64_t count;
	uint64_t total;
	uint64_t least;
	uint64_t interrupted;
	uint64_t interrupted_total;
	uint64_t reserved[2];
	uint64_t buckets[VARIATION_BUCKETS];
};

/**
 * struct variation_area - the area
 * @path:  sum of the values on the edges so far; VARIATION_NO_PATH and above: no path
 * @procedure: procedure of @path, as in keys
 * @began, @ended: times of the time stamp counter
 * @seed:  of random numbers
 * @lost:  paths whose time is invalid because another path ran meanwhile (mostly in a signal
 *         handler)
 * @overflow: paths for which there was no room
 * @used: number of @entries in use; one in between may be empty (because a signal handler was
 *        faster)
 * @places: number of an entry + 1, by the hash of its key; 0: free
 */
struct variation_area {
	struct profile_layout_switch bursts;
	uint32_t path;
	uint32_t procedure;
	uint64_t began;
	uint64_t ended;
	uint64_t seed;
	uint64_t lost;
	uint64_t overflow;
	uint32_t used;
	uint32_t reserved[15];
	uint16_t places[VARIATION_PLACES];
	struct variation_entry entries[VARIATION_ENTRIES];
};

_Static_assert(offsetof(struct variation_area, entries) % 64 == 0, "of lines of the cache");

/** variation_bucket() - return the bucket of a time below VARIATION_LONG */
static inline uint32_t variation_bucket(uint64_t time)
{
	uint32_t power;

	if (time < VARIATION_EXACT)
		return (uint32_t)time;
	power = 63 - (uint32_t)__builtin_clzll(time);
	return VARIATION_EXACT + (power - 4) * 8 + ((uint32_t)(time >> (power - 3)) & 7);
}

/** variation_bucket_start() - return the shortest time of a bucket. */
static inline uint64_t variation_bucket_start(uint32_t bucket)
{
	uint32_t above = bucket - VARIATION_EXACT;

	if (bucket < VARIATION_EXACT)
		return bucket;
	return (8 + above % 8) * (UINT64_C(1) << (above / 8 + 1));
}

#endif
