/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring of snapshots, from the sampling interrupts of one CPU to one reader.
 *
 * The writer runs on its CPU, in any context, and may be interrupted by a writer of another event,
 * which finds the ring busy and drops its snapshot. The reader runs anywhere, one call at a time.
 * There are no locks: the writer publishes @head, the reader @tail.
 */
#ifndef DCPI_SNAPSHOT_RING_H
#define DCPI_SNAPSHOT_RING_H

#include "core_env.h"

#include "../uapi/dcpi_snapshot.h"

/**
 * struct snapshot_ring - zero-initialised has no room
 * @slots:      memory of the caller, @capacity records
 * @capacity:   a power of two
 * @head:       number of snapshots written; only the writer changes it
 * @tail:       number of snapshots read; only the reader changes it
 * @is_written: a writer is between begin and end
 */
struct snapshot_ring {
	struct dcpi_snapshot *slots;
	u32 capacity;
	u32 head;
	u32 tail;
	bool is_written;
};

/**
 * snapshot_ring_begin() - return room for the next snapshot
 *
 * Return: NULL if the ring is full, or if this call interrupted another writer. Otherwise
 * snapshot_ring_end() must follow.
 */
static inline struct dcpi_snapshot *snapshot_ring_begin(struct snapshot_ring *ring)
{
	if (ring->is_written || ring->head - core_load_acquire(&ring->tail) >= ring->capacity)
		return NULL;
	ring->is_written = true;
	core_barrier();
	/* A writer that came before the flag was set has finished, and may have filled the ring. */
	if (ring->head - ring->tail >= ring->capacity) {
		ring->is_written = false;
		return NULL;
	}
	return &ring->slots[ring->head & (ring->capacity - 1)];
}

/**
 * snapshot_ring_end() - publish the snapshot that snapshot_ring_begin() made room for
 *
 * Return: true each time that the ring becomes half full, when the reader should be woken.
 */
static inline bool snapshot_ring_end(struct snapshot_ring *ring)
{
	u32 head = ring->head + 1;

	core_store_release(&ring->head, head);
	core_barrier();
	ring->is_written = false;
	return head - ring->tail == ring->capacity / 2;
}

/**
 * snapshot_ring_first() - find the oldest snapshots that lie together
 * @first: out: the oldest one
 *
 * Return: their number; fewer than in the ring if it wraps; 0: the ring is empty.
 */
static inline u32 snapshot_ring_first(const struct snapshot_ring *ring,
				      const struct dcpi_snapshot **first)
{
	u32 count = core_load_acquire(&ring->head) - ring->tail, at, together;

	if (count == 0)
		return 0;
	at = ring->tail & (ring->capacity - 1);
	together = ring->capacity - at;
	*first = &ring->slots[at];
	return count < together ? count : together;
}

/** snapshot_ring_release() - give back the oldest @count snapshots, which were read */
static inline void snapshot_ring_release(struct snapshot_ring *ring, u32 count)
{
	core_store_release(&ring->tail, ring->tail + count);
}

/** snapshot_ring_is_half_full() - return true if the reader should come */
static inline bool snapshot_ring_is_half_full(const struct snapshot_ring *ring)
{
	return ring->capacity != 0 &&
	       core_load_acquire(&ring->head) - ring->tail >= ring->capacity / 2;
}

#endif
