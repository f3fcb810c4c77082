/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which lines of code are in each other's way: a cache of few ways forgets code that comes
 * again soon, though little other code has come between, where that is in the same set.
 *
 * As code_footprint.h, of each set by itself: its lines are known by their addresses. Where
 * an image is loaded shifts all sets alike, and other images are not known of.
 */
#ifndef DCPI_CODE_SETS_H
#define DCPI_CODE_SETS_H

#include "analysis/frequency/frequency.h"
#include "analysis/machine/machine_model.h"

/** struct set_line - in use; @number: address / bytes of a line */
struct set_line {
	uint64_t number;
	double frequency;
};

/**
 * struct code_sets - of an image; zero-initialised is empty
 * @stay: how long lines stay in each of @sets sets, as in struct code_footprint; NULL: not
 *        settled, or the cache's ways are not known
 */
struct code_sets {
	struct set_line *lines;
	size_t count;
	size_t capacity;
	double *stay;
	uint32_t sets;
	uint32_t line_bytes;
};

/** code_sets_add() - add a procedure's code. Return: 0 or -ENOMEM. */
int code_sets_add(struct code_sets *sets, const struct machine_cache *cache, const struct cfg *cfg,
		  const struct frequency *frequency);

/**
 * code_sets_settle() - find how long code stays; nothing is added after that
 *
 * O(lines log lines). Return: 0 or -ENOMEM.
 */
int code_sets_settle(struct code_sets *sets, const struct machine_cache *cache);

/**
 * code_sets_miss_share() - the share of executions of code that others of its set have evicted
 * @frequency: of the code, as struct frequency_estimate has it
 */
double code_sets_miss_share(const struct code_sets *sets, uint64_t address, double frequency);

/** code_sets_deinit() - free. Zero-initialised is fine. */
void code_sets_deinit(struct code_sets *sets);

#endif
