/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Union-find with path halving (Tarjan, van Leeuwen 1984): disjoint sets of numbers, which can be
 * joined but not split. A set is identified by one of its numbers, the root. The caller owns the
 * memory.
 */
#ifndef DCPI_DISJOINT_SETS_H
#define DCPI_DISJOINT_SETS_H

#include <stdbool.h>
#include <stdint.h>

/** disjoint_sets_init() - make each number below @count a set of its own; @sets: room for @count
 * numbers */
static inline void disjoint_sets_init(uint32_t *sets, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		sets[i] = i;
}

/** disjoint_sets_find() - return the root of a number's set. */
static inline uint32_t disjoint_sets_find(uint32_t *sets, uint32_t number)
{
	while (sets[number] != number)
		number = sets[number] = sets[sets[number]];
	return number;
}

/** disjoint_sets_join() - join two sets under the root of @b; return true if they were disjoint. */
static inline bool disjoint_sets_join(uint32_t *sets, uint32_t a, uint32_t b)
{
	uint32_t from = disjoint_sets_find(sets, a), to = disjoint_sets_find(sets, b);

	sets[from] = to;
	return from != to;
}

#endif
