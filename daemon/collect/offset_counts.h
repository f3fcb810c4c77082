/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts by offset, of samples that come in any order, and mostly again: from
 * each process that runs a program, and each time that the kernel's table lets go
 * of an address.
 *
 * They are in an array in the order of their first, and found by an open hash table
 * of their numbers, at most half full; sorted by radix when they are asked for,
 * elsewhere. The hash is a multiplication; should somebody have chosen offsets that
 * meet in it, it becomes another one, which nobody can know.
 *
 * Inline: what the daemon does for each entry.
 */
#ifndef DCPI_OFFSET_COUNTS_H
#define DCPI_OFFSET_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/profile.h"

/**
 * struct offset_counts - what offset_counts_init() makes
 * @samples:    from 1 to @count; with 0, room for @capacity, a power of two
 * @numbers:    twice as many slots: the number of a sample, or 0
 * @multiplier: odd; the top bits of a product tell where an offset's search begins
 * @shift:      to get these
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
 * struct offset_scratch - where counts are sorted; one may serve many
 *
 * Zero-initialised is empty; free(@samples) afterwards.
 */
struct offset_scratch {
	struct profile_sample *samples;
	size_t capacity;
};

/** offset_counts_init() - empty, with room for a few. Return: 0 or -ENOMEM. */
int offset_counts_init(struct offset_counts *counts);

/** offset_counts_deinit() - free everything. */
void offset_counts_deinit(struct offset_counts *counts);

/** offset_counts_bytes() - memory of the array and the table. */
size_t offset_counts_bytes(const struct offset_counts *counts);

/** offset_counts_grow() - make room for more. Return: 0; -ENOMEM: all is as it was. */
int offset_counts_grow(struct offset_counts *counts);

/** offset_counts_again() - add @count at @offset. Return: false if it is not there yet. */
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
 * offset_counts_append() - what is not there yet: @count at @offset
 *
 * O(1) expected. Return: false if there is no room.
 */
bool offset_counts_append(struct offset_counts *counts, uint64_t offset, uint64_t count);

/**
 * offset_counts_sort() - all of them, ascending by offset
 * @samples: out: @counts->count of them, in @scratch up to its next use
 *
 * Return: 0 or -ENOMEM.
 */
int offset_counts_sort(const struct offset_counts *counts, struct offset_scratch *scratch,
		       const struct profile_sample **samples);

#endif
