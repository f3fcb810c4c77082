/* SPDX-License-Identifier: GPL-2.0-only */
/* A set-associative cache with LRU replacement. It has tags only, no data. */
#ifndef DCPI_TESTS_SIM_CACHE_H
#define DCPI_TESTS_SIM_CACHE_H

#include "tests/eval/truth/sim_machine.h"

/** struct sim_line - @tag: line number + 1, 0: empty. @ready: cycle when its data is there. */
struct sim_line {
	uint64_t tag;
	uint64_t ready;
	uint64_t used;
};

/** struct sim_cache - @lines by set; @clock: number of accesses. */
struct sim_cache {
	struct sim_line *lines;
	uint64_t clock;
	uint32_t shift;
	uint32_t sets;
	uint32_t ways;
};

/** sim_cache_init() - make an empty cache; bytes 0: every access misses. Return: 0 or -ENOMEM. */
int sim_cache_init(struct sim_cache *cache, const struct sim_geometry *geometry);

/** sim_cache_find() - Return: the line of an address, now the most recently used; NULL: a miss. */
struct sim_line *sim_cache_find(struct sim_cache *cache, uint64_t address);

/** sim_cache_fill() - add a line that missed. Return: the line, or NULL (no cache). */
struct sim_line *sim_cache_fill(struct sim_cache *cache, uint64_t address, uint64_t ready);

void sim_cache_deinit(struct sim_cache *cache);

#endif
