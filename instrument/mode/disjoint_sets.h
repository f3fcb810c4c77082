/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sets of numbers that are joined and never parted: union-find, with paths halved (Tarjan, van
 * Leeuwen 1984). A set is known by one of its numbers, its root. The memory is the caller's.
 */
#ifndef DCPI_DISJOINT_SETS_H
#define DCPI_DISJOINT_SETS_H

#include <stdbool.h>
#include <stdint.h>

/** disjoint_sets_init() - each number below @count is alone; @sets: so many numbers */
static inline void disjoint_sets_init(uint32_t *sets, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		sets[i] = i;
}

/** disjoint_sets_find() - the root of a number's set. */
static inline uint32_t disjoint_sets_find(uint32_t *sets, uint32_t number)
{
	while (sets[number] != number)
		number = sets[number] = sets[sets[number]];
	return number;
}

/** disjoint_sets_join() - @b's root becomes that of both; whether they were apart. */
static inline bool disjoint_sets_join(uint32_t *sets, uint32_t a, uint32_t b)
{
	uint32_t from = disjoint_sets_find(sets, a), to = disjoint_sets_find(sets, b);

	sets[from] = to;
	return from != to;
}

#endif
