/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bins that wait for a merge: found by key, taken out from the oldest on, their
 * memory and what they hold summed up. What is in a bin is its owner's, who
 * begins a structure of its own with struct bin (accumulate.c, edge_accumulate.c).
 */
#ifndef DCPI_BIN_QUEUE_H
#define DCPI_BIN_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/u64_map.h"

/**
 * struct bin - the part that all bins share; first member of theirs
 * @next: the bin after this one, NULL if it is the youngest
 * @key:  whatever tells bins apart
 * @held: counts in it
 */
struct bin {
	struct bin *next;
	uint64_t key;
	uint64_t held;
};

/**
 * struct bin_queue - zero-initialised but for the limit is empty
 * @index:        key to bin, as a pointer
 * @count:        bins
 * @bytes:        of all bins and what is in them, as their owner charges it
 * @memory_limit: no more is taken beyond
 * @held:         counts in all bins
 * @refused:      counts that were not taken, so far
 */
struct bin_queue {
	struct u64_map index;
	struct bin *first;
	struct bin *youngest;
	size_t count;
	size_t bytes;
	size_t memory_limit;
	uint64_t held;
	uint64_t refused;
};

/** bin_queue_bytes() - memory in use, the index included. */
size_t bin_queue_bytes(const struct bin_queue *queue);

/** bin_queue_full() - whether what takes more memory must be refused. */
bool bin_queue_full(const struct bin_queue *queue);

/** bin_queue_find() - the bin with a key, or NULL. O(1) expected. */
struct bin *bin_queue_find(const struct bin_queue *queue, uint64_t key);

/**
 * bin_queue_create() - a new youngest bin, zeroed but for struct bin
 * @key:   no bin has it yet
 * @bytes: of the owner's structure
 *
 * Return: the bin, valid until it is dropped; NULL if full or out of memory.
 */
struct bin *bin_queue_create(struct bin_queue *queue, uint64_t key, size_t bytes);

/** bin_queue_hold() - @count more are in a bin. */
static inline void bin_queue_hold(struct bin_queue *queue, struct bin *bin, uint64_t count)
{
	bin->held += count;
	queue->held += count;
}

/** bin_queue_refuse() - count what is not taken. Return: -ENOMEM. */
int bin_queue_refuse(struct bin_queue *queue, uint64_t count);

/**
 * bin_queue_drop() - forget the oldest bin, which there must be
 * @bytes: all that was charged for it
 *
 * Its owner frees it, afterwards.
 */
void bin_queue_drop(struct bin_queue *queue, size_t bytes);

#endif
