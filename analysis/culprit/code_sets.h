/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines of code that conflict in a cache of low associativity: lines of the same set evict each
 * other even if little other code is executed between two uses.
 *
 * The model is that of code_footprint.h, applied to each set separately; the addresses of lines
 * determine their sets. The load address of an image shifts all sets equally, and other images are
 * ignored.
 */
#ifndef DCPI_CODE_SETS_H
#define DCPI_CODE_SETS_H

#include "analysis/frequency/frequency.h"
#include "analysis/machine/machine_model.h"

/** struct set_line - a line in use; @number: address / bytes of a line */
struct set_line {
	uint64_t number;
	double frequency;
};

/**
 * struct code_sets - lines of an image; empty if zero-initialised
 * @stay: time that lines stay in each of @sets sets, as in struct code_footprint; NULL: not
 *        computed yet, or the associativity of the cache is unknown
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
 * code_sets_settle() - compute the times that lines stay; no code can be added afterwards
 *
 * O(lines log lines). Return: 0 or -ENOMEM.
 */
int code_sets_settle(struct code_sets *sets, const struct machine_cache *cache);

/**
 * code_sets_miss_share() - return the share of executions whose code was evicted by lines of its
 * set
 * @frequency: of the code, in the unit of struct frequency_estimate
 */
double code_sets_miss_share(const struct code_sets *sets, uint64_t address, double frequency);

/** code_sets_deinit() - free the lines. Zero-initialised is fine. */
void code_sets_deinit(struct code_sets *sets);

#endif
