/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines of code that conflict in a cache of low associativity: lines of the same set evict each
 * other even if little other code is executed between two uses.
 *
 * The model is that of code_footprint.h, applied to each set separately; the addresses of lines
 * determine their sets. The load address of an image shifts all sets equally, and other images are
 * ignored.
 */
#ifndef DCPI_SET_PRESSURE_H
#define DCPI_SET_PRESSURE_H

#include "analysis/frequency/frequency.h"
#include "analysis/machine/machine_model.h"

/** struct set_line - a line in use; @number: address / bytes of a line */
struct set_line {
	uint64_t number;
	double frequency;
};

/**
 * struct set_pressure - lines of an image; empty if zero-initialised
 * @residency: time that lines stay in each of @sets sets, as in struct code_footprint; NULL: not
 *        computed yet, or the associativity of the cache is unknown
 */
struct set_pressure {
	struct set_line *lines;
	size_t count;
	size_t capacity;
	double *residency;
	uint32_t sets;
	uint32_t line_bytes;
};

/** set_pressure_add() - add a procedure's code. Return: 0 or -ENOMEM. */
int set_pressure_add(struct set_pressure *sets, const struct machine_cache *cache,
		     const struct cfg *cfg, const struct frequency *frequency);

/**
 * set_pressure_settle() - compute the times that lines stay; no code can be added afterwards
 *
 * O(lines log lines). Return: 0 or -ENOMEM.
 */
int set_pressure_settle(struct set_pressure *sets, const struct machine_cache *cache);

/**
 * set_pressure_miss_share() - return the share of executions whose code was evicted by lines of its
 * set
 * @frequency: of the code, in the unit of struct frequency_estimate
 */
double set_pressure_miss_share(const struct set_pressure *sets, uint64_t address, double frequency);

/** set_pressure_deinit() - free the lines. Zero-initialised is fine. */
void set_pressure_deinit(struct set_pressure *sets);

#endif
