/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From which instruction control last arrived at another one, as interpretation has seen it.
 *
 * Code cannot be decoded backwards. But the instructions before a sampled one were interpreted for
 * earlier samples of the same loop (kmod/core/access.h). If an instruction was reached from two
 * others, the predecessor of a sample is not known. (The first instruction of a loop is entered
 * once, and then reached from the end of the loop many times. The entry is forgotten after
 * ARRIVAL_CACHE_MANY arrivals from there.)
 */
#ifndef DCPI_ARRIVAL_CACHE_H
#define DCPI_ARRIVAL_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define ARRIVAL_CACHE_ENTRIES 4096
#define ARRIVAL_CACHE_MANY 16

/** struct arrival - @from: 0 if there is none; @streak: consecutive arrivals from @from */
struct arrival {
	uint64_t space;
	uint64_t to;
	uint64_t from;
	uint32_t streak;
	bool other;
};

/** struct arrival_cache - zero-initialised is empty; direct-mapped, so entries replace others */
struct arrival_cache {
	struct arrival entry[ARRIVAL_CACHE_ENTRIES];
};

/**
 * arrival_cache_add() - control went from one instruction to another
 * @space: number of the address space and of its version
 */
void arrival_cache_add(struct arrival_cache *cache, uint64_t space, uint64_t from, uint64_t to);

/**
 * arrival_cache_find() - find the instruction from which control arrives at @to
 *
 * Return: true if it is known, and there was no other one lately.
 */
bool arrival_cache_find(const struct arrival_cache *cache, uint64_t space, uint64_t to,
			uint64_t *ret);

#endif
