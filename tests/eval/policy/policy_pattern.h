/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keys that follow a pattern, as those of programs and processes do, to test whether a hash
 * function spreads them over the sets of a table.
 */
#ifndef DCPI_TESTS_POLICY_PATTERN_H
#define DCPI_TESTS_POLICY_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/eval/policy/policy_hash.h"

/*
 * Share of keys in excess of four per set, with half as many keys as places. There are two keys per
 * set on average; for random keys (Poisson's distribution) the share is:
 */
#define POLICY_EXCESS_RANDOM 0.0376
/* Limits for a hash function: for each pattern, and for the mean of all patterns. */
#define POLICY_EXCESS_MAX (4 * POLICY_EXCESS_RANDOM)
#define POLICY_EXCESS_MEAN (2 * POLICY_EXCESS_RANDOM)

/**
 * struct policy_pattern - keys that differ in up to two fields
 * @name:   description
 * @events: events of each PC
 * @pcs:    different PCs, @stride bytes apart; the same PCs are repeated for each of
 * @pids, @generations: the next processes or generations
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
 * policy_excess() - return the share of keys for which their set has no place
 * @entries: places, in sets of four; there are half as many keys
 */
double policy_excess(const struct policy_hash *hash, uint32_t entries,
		     const struct policy_pattern *pattern);

/** policy_hash_fit() - return true if the function spreads every pattern within the limits */
bool policy_hash_fit(const struct policy_hash *hash, uint32_t entries);

#endif
