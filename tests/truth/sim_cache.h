/* SPDX-License-Identifier: GPL-2.0-only */
/* A cache: sets of lines, the least recently used one is replaced. Tags only. */
#ifndef DCPI_TESTS_SIM_CACHE_H
#define DCPI_TESTS_SIM_CACHE_H

#include "tests/truth/sim_machine.h"

/** struct sim_line - @tag: line number + 1, 0: empty. @ready: cycle when its data is there. */
struct sim_line {
	uint64_t tag;
	uint64_t ready;
	uint64_t used;
};

/** struct sim_cache - @lines by set; @clock counts accesses. */
struct sim_cache {
	struct sim_line *lines;
	uint64_t clock;
	uint32_t shift;
	uint32_t sets;
	uint32_t ways;
};

/** sim_cache_init() - empty; bytes 0: nothing is ever found. Return: 0 or -ENOMEM. */
int sim_cache_init(struct sim_cache *cache, const struct sim_geometry *geometry);

/** sim_cache_find() - Return: the line of an address, now the latest used; NULL: a miss. */
struct sim_line *sim_cache_find(struct sim_cache *cache, uint64_t address);

/** sim_cache_fill() - bring in a line, known to be missing. Return: it, or NULL (no cache). */
struct sim_line *sim_cache_fill(struct sim_cache *cache, uint64_t address, uint64_t ready);

void sim_cache_deinit(struct sim_cache *cache);

#endif
