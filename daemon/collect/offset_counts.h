/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts by offset, of samples that come in any order: most of them once.
 *
 * Samples are appended as they come. When the array is full it grows; once there
 * is much that was appended, this is sorted, by radix, and merged into what was
 * sorted before, which may make room without. So a sample costs a store and its
 * share of one sort and one merge, where a hash table costs a search each, and a
 * sort in the end all the same. The array has at most some eight times the room
 * that its offsets need, once it is not small.
 */
#ifndef DCPI_OFFSET_COUNTS_H
#define DCPI_OFFSET_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/profile.h"

/**
 * struct offset_counts - zero-initialised is empty
 * @samples: the first @sorted ascend by offset; @count in all
 * @limit:   appending ends here: @capacity, or less if there is no more memory
 */
struct offset_counts {
	struct profile_sample *samples;
	size_t sorted;
	size_t count;
	size_t limit;
	size_t capacity;
};

/**
 * struct offset_scratch - what sorting needs beside the array; one may serve many
 *
 * Zero-initialised is empty; free(@samples) afterwards.
 */
struct offset_scratch {
	struct profile_sample *samples;
	size_t capacity;
};

/** offset_counts_deinit() - free everything; empty again. */
void offset_counts_deinit(struct offset_counts *counts);

/** offset_counts_bytes() - memory of the array. */
size_t offset_counts_bytes(const struct offset_counts *counts);

/** offset_counts_append() - add @count at @offset. Return: false if there is no room. */
static inline bool offset_counts_append(struct offset_counts *counts, uint64_t offset,
					uint64_t count)
{
	if (counts->count == counts->limit)
		return false;
	counts->samples[counts->count++] =
		(struct profile_sample){.offset = offset, .count = count};
	return true;
}

/**
 * offset_counts_add() - the same, and make room before
 * @may_grow: else there is no memory but what the array has: what is at a new
 *            offset is refused unless many others fall together
 *
 * O(1) amortised; O(log n) while it must not grow.
 *
 * Return: 0; -ENOMEM: not added.
 */
int offset_counts_add(struct offset_counts *counts, struct offset_scratch *scratch, uint64_t offset,
		      uint64_t count, bool may_grow);

/**
 * offset_counts_settle() - one sample an offset, ascending: all of @samples
 *
 * Return: 0; -ENOMEM, nothing has changed.
 */
int offset_counts_settle(struct offset_counts *counts, struct offset_scratch *scratch);

#endif
