/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cost of a replacement policy in instructions per sample, from a linear model.
 *
 * The instructions of the shipped store are counted by single-stepping
 * (tests/eval/policy/policy_steps.h). The cost of another policy is that of the shipped store, plus
 * its additional work, less the work it omits. The prices below apply. The interrupt itself, perf's
 * part of it and the rest of the handler are the same for all policies and are not counted.
 */
#ifndef DCPI_TESTS_POLICY_COST_H
#define DCPI_TESTS_POLICY_COST_H

#include "tests/eval/policy/policy_model.h"
#include "tests/eval/policy/policy_steps.h"

/* Moving an entry: two loads, two stores. */
#define POLICY_SHIFT_COST 4
/*
 * Each further place in a hit of an order that moves no entries: its loop is in line. Measured by
 * single-stepping the previously shipped store, as are all prices here of work that the present
 * store does not do; rounded in favour of the other policies.
 */
#define POLICY_PLACE_COST 5
/* Search for a free place, per place: a test and a branch. Then the counter of POLICY_MOD. */
#define POLICY_LOOK_COST 2
#define POLICY_TURN_COST 5
/* A random number. Then, per entry, the comparison of its count. */
#define POLICY_RANDOM_COST 5
#define POLICY_FEWEST_COST 4
/*
 * A set of more than 64 bytes extends into a second cache line after its fourth entry. The access
 * is a first-level miss that hits the second level: about 14 cycles at two instructions per cycle.
 */
#define POLICY_LINE_COST 28
/*
 * The daemon copies an entry that leaves the table, matches it with its image and adds it to a
 * profile (263 instructions, counted by callgrind over 30,000 entries of a replayed build).
 */
#define POLICY_DELIVERY_COST 260
/*
 * An interrupt with an empty handler, on the deterministic arm64 machine. No policy changes it, but
 * it puts the differences between policies into proportion.
 */
#define POLICY_FLOOR_COST 1164

/**
 * struct policy_cost - prices, in instructions
 * @hit:   a hit at the first place, without the hash
 * @away:  additional cost of a hit at another place, including the swap: its code is out of
 *         line in orders that move entries
 * @place: each further place compared, after the second place for a hit
 * @miss:  a miss that evicts the last entry, without the hash, the places compared
 *         and the entries moved
 * @free:  instructions saved by a miss that evicts no entry
 */
struct policy_cost {
	double hit;
	double away;
	double place;
	double miss;
	double free;
};

/** policy_cost_init() - derive prices from the measured steps of the shipped store */
void policy_cost_init(struct policy_cost *cost, const struct policy_steps *steps);

/**
 * policy_cost_handler() - return the instructions per sample in the store
 * policy_cost_system()  - return the same plus the daemon's for entries that leave the table
 */
double policy_cost_handler(const struct policy_cost *cost, const struct policy *policy,
			   const struct policy_counts *counts);
double policy_cost_system(const struct policy_cost *cost, const struct policy *policy,
			  const struct policy_counts *counts);

#endif
