/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a policy costs: instructions a sample, from a linear model.
 *
 * The store that is shipped is stepped through (tests/policy_steps.h); the
 * other policies are that store plus what they do beside it, at the prices
 * below, and less what they don't. The interrupt itself, perf's part of it and
 * the rest of the handler are the same for all, and not counted.
 */
#ifndef DCPI_TESTS_POLICY_COST_H
#define DCPI_TESTS_POLICY_COST_H

#include "tests/policy_model.h"
#include "tests/policy_steps.h"

/* An entry moves: two loads, two stores. */
#define POLICY_SHIFT_COST 4
/* A hit of an order that moves nothing has its loop in line: each further place.
 * Stepped through in the store that was shipped before, as all prices here of
 * what the present one does not do; rounded in favour of the others. */
#define POLICY_PLACE_COST 5
/* Looking for a free place, each place: a test and a branch; and the counter of
 * POLICY_MOD. */
#define POLICY_LOOK_COST 2
#define POLICY_TURN_COST 5
/* A random number; and, for each entry, a look at its count. */
#define POLICY_RANDOM_COST 5
#define POLICY_FEWEST_COST 4
/* A set of more than 64 bytes touches a second line of the cache beyond its
 * fourth entry: a miss of the first level that hits the second, about 14 cycles
 * at two instructions a cycle. */
#define POLICY_LINE_COST 28
/* An entry that leaves the table is copied, matched with its image and added to
 * its profile by the daemon (263 instructions, counted by callgrind over
 * 30,000 entries of a replayed build). */
#define POLICY_DELIVERY_COST 260
/* An interrupt with a handler that does nothing, on the deterministic arm64
 * machine: no policy saves it, but it is what their differences weigh against. */
#define POLICY_FLOOR_COST 1164

/**
 * struct policy_cost - prices, in instructions
 * @hit:   a hit at the first place, without the hash
 * @away:  a hit at another place, beside that: it is out of line, where orders
 *         that move entries have it; with the swap
 * @place: each further place looked at, after the second by a hit
 * @miss:  a miss that evicts the last, without the hash, the places looked at
 *         and the entries moved
 * @free:  what a miss saves that evicts nothing
 */
struct policy_cost {
	double hit;
	double away;
	double place;
	double miss;
	double free;
};

/** policy_cost_init() - prices from the measured steps of the shipped store. */
void policy_cost_init(struct policy_cost *cost, const struct policy_steps *steps);

/**
 * policy_cost_handler() - instructions in the store, a sample
 * policy_cost_system()  - the same and the daemon's for what leaves the table
 */
double policy_cost_handler(const struct policy_cost *cost, const struct policy *policy,
			   const struct policy_counts *counts);
double policy_cost_system(const struct policy_cost *cost, const struct policy *policy,
			  const struct policy_counts *counts);

#endif
