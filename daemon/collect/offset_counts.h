/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts by offset. Samples come in any order, and mostly with known offsets: from each process
 * that runs a program, and each time that the kernel's table evicts an address.
 *
 * The counts are in an array in order of first occurrence. An open hash table of indices, at most
 * half full, finds them. They are sorted by radix on request, into another array. The hash is a
 * multiplication. If a user has chosen offsets that collide, the multiplier is replaced by an
 * unpredictable one.
 *
 * Inline: the daemon does this for each entry.
 */
#ifndef DCPI_OFFSET_COUNTS_H
#define DCPI_OFFSET_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/profile.h"

/**
 * struct offset_counts - initialised by offset_counts_init()
 * @samples:    entries 1 to @count; including the unused entry 0, room for @capacity, a power of
 *              two
 * @numbers:    hash table with twice as many slots: the index of a sample, or 0
 * @multiplier: odd; the top bits of a product are the slot at which a search begins
 * @shift:      selects these bits
 */
struct offset_counts {
	struct profile_sample *samples;
	uint32_t *numbers;
	size_t count;
	size_t capacity;
	uint64_t multiplier;
	unsigned int shift;
};

/**
 * struct offset_scratch - memory for sorting; one may be shared by many counts
 *
 * Zero-initialised is empty; free(@samples) afterwards.
 */
struct offset_scratch {
	struct profile_sample *samples;
	size_t capacity;
};

/** offset_counts_init() - initialise empty counts, with room for a few. Return: 0 or -ENOMEM. */
int offset_counts_init(struct offset_counts *counts);

/** offset_counts_deinit() - free everything. */
void offset_counts_deinit(struct offset_counts *counts);

/** offset_counts_bytes() - return the memory of the array and the table. */
size_t offset_counts_bytes(const struct offset_counts *counts);

/** offset_counts_grow() - make room for more. Return: 0; -ENOMEM: nothing has changed. */
int offset_counts_grow(struct offset_counts *counts);

/** offset_counts_again() - add @count at a known @offset. Return: false if the offset is new. */
static inline bool offset_counts_again(struct offset_counts *counts, uint64_t offset,
				       uint64_t count)
{
	size_t slot = offset * counts->multiplier >> counts->shift;
	const uint32_t *numbers = counts->numbers;

	for (; numbers[slot] != 0; slot = (slot + 1) & (2 * counts->capacity - 1)) {
		struct profile_sample *sample = &counts->samples[numbers[slot]];

		if (sample->offset == offset) {
			sample->count += count;
			return true;
		}
	}
	return false;
}

/**
 * offset_counts_append() - add @count at a new @offset
 *
 * O(1) expected. Return: false if there is no room.
 */
bool offset_counts_append(struct offset_counts *counts, uint64_t offset, uint64_t count);

/**
 * offset_counts_sort() - return all counts, ascending by offset
 * @samples: out: @counts->count entries, in @scratch until its next use
 *
 * Return: 0 or -ENOMEM.
 */
int offset_counts_sort(const struct offset_counts *counts, struct offset_scratch *scratch,
		       const struct profile_sample **samples);

#endif
