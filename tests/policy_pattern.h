/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keys that follow a pattern, as those of programs and processes do: does a hash
 * function spread them over the sets of a table?
 */
#ifndef DCPI_TESTS_POLICY_PATTERN_H
#define DCPI_TESTS_POLICY_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/policy_hash.h"

/* In excess of four places, of keys that are half as many as places: two to a
 * set on average, so if they fall at random (Poisson's distribution): */
#define POLICY_EXCESS_RANDOM 0.0376
/* What is accepted of a function: of one pattern, and of all on average. */
#define POLICY_EXCESS_MAX (4 * POLICY_EXCESS_RANDOM)
#define POLICY_EXCESS_MEAN (2 * POLICY_EXCESS_RANDOM)

/**
 * struct policy_pattern - keys that differ in up to two ways
 * @name:   in words
 * @events: of each PC
 * @pcs:    different PCs, @stride bytes apart; after so many the same ones come
 *          again in
 * @pids, @generations: that much further
 */
struct policy_pattern {
	const char *name;
	uint32_t events;
	uint32_t pcs;
	uint32_t stride;
	uint32_t pids;
	uint32_t generations;
};

extern const struct policy_pattern policy_patterns[];
extern const size_t policy_pattern_count;

/**
 * policy_excess() - share of keys that find no place
 * @entries: places, in sets of four; there are half as many keys
 */
double policy_excess(const struct policy_hash *hash, uint32_t entries,
		     const struct policy_pattern *pattern);

/** policy_hash_fit() - whether it spreads every pattern well enough. */
bool policy_hash_fit(const struct policy_hash *hash, uint32_t entries);

#endif
