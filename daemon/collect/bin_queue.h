/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bins waiting for a merge: looked up by key, and removed oldest first. Their memory and contents
 * are summed up. The contents of a bin belong to its owner, whose structure begins with struct bin
 * (accumulate.c, edge_accumulate.c).
 */
#ifndef DCPI_BIN_QUEUE_H
#define DCPI_BIN_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/u64_map.h"

/**
 * struct bin - common part of all bins, their first member
 * @next: the bin after this one, NULL if it is the youngest
 * @key:  unique key
 * @held: sum of the counts in it
 */
struct bin {
	struct bin *next;
	uint64_t key;
	uint64_t held;
};

/**
 * struct bin_queue - zero-initialised, except the limit, is empty
 * @index:        maps a key to a pointer to its bin
 * @count:        number of bins
 * @bytes:        memory of all bins and their contents, as charged by their owner
 * @memory_limit: beyond it, counts are refused
 * @held:         sum of the counts in all bins
 * @refused:      sum of the counts refused so far
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

/** bin_queue_bytes() - return the memory in use, including the index. */
size_t bin_queue_bytes(const struct bin_queue *queue);

/** bin_queue_full() - return true if requests for more memory must be refused. */
bool bin_queue_full(const struct bin_queue *queue);

/** bin_queue_find() - return the bin with a key, or NULL. O(1) expected. */
struct bin *bin_queue_find(const struct bin_queue *queue, uint64_t key);

/**
 * bin_queue_create() - create a bin, which is the youngest; zeroed except for struct bin
 * @key:   not used by another bin
 * @bytes: size of the owner's structure
 *
 * Return: the bin, valid until it is dropped; NULL if full or out of memory.
 */
struct bin *bin_queue_create(struct bin_queue *queue, uint64_t key, size_t bytes);

/** bin_queue_hold() - record that a bin contains @count more. */
static inline void bin_queue_hold(struct bin_queue *queue, struct bin *bin, uint64_t count)
{
	bin->held += count;
	queue->held += count;
}

/** bin_queue_refuse() - add to the refused counts. Return: -ENOMEM. */
int bin_queue_refuse(struct bin_queue *queue, uint64_t count);

/**
 * bin_queue_drop() - remove the oldest bin, which must exist
 * @bytes: total memory that was charged for it
 *
 * The owner frees the bin afterwards.
 */
void bin_queue_drop(struct bin_queue *queue, size_t bytes);

#endif
