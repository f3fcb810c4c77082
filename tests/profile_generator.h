/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Procedures that never were, with known frequencies: random structured graphs with random
 * branch probabilities, random schedules, dynamic stalls of all sizes, and samples drawn
 * from what follows.
 */
#ifndef DCPI_TESTS_PROFILE_GENERATOR_H
#define DCPI_TESTS_PROFILE_GENERATOR_H

#include "analysis/frequency/frequency.h"

/**
 * struct profile_recipe - what to make
 * @depth:         of nested constructs: 4 makes about 30 blocks
 * @samples:       to draw, about
 * @edge_samples:  each sample also tells a branch's direction
 * @stall_share:   of instructions that have dynamic stalls; nine times as many of blocks'
 *                 first ones (what simulated machines show at 0.1)
 * @wrong_share:   of instructions whose M is one cycle too big or too small
 */
struct profile_recipe {
	unsigned int depth;
	double samples;
	bool edge_samples;
	double stall_share;
	double wrong_share;
};

/** struct generated_profile - a procedure, its profile, and the truth. */
struct generated_profile {
	struct cfg *cfg;
	struct cfg_facts facts;
	struct frequency_classes classes;
	struct schedule schedule;
	struct procedure_profile profile;
	struct frequency_input input;
	double *block_truth;
	double *edge_truth;
};

/** profile_generate() - make one; without memory the test ends. */
void profile_generate(struct generated_profile *ret, const struct profile_recipe *recipe,
		      uint64_t *seed);

void generated_profile_deinit(struct generated_profile *generated);

/**
 * struct profile_score - how good estimates are, weighted: frequencies by samples, edges by
 * executions; divide by @samples and @executions
 * @within:       relative error within 5, 10, 15, 45%
 * @edges_within: likewise
 * @covered:      the truth is in the interval
 * @far:          error above 15%; @far_flagged: of these, with low confidence
 * @confident:    not low confidence
 */
struct profile_score {
	double samples;
	double within[4];
	double covered;
	double far;
	double far_flagged;
	double confident;
	double executions;
	double edges_within[4];
	double edges_covered;
};

/** profile_score_add() - compare an estimate to the truth. */
void profile_score_add(struct profile_score *score, const struct generated_profile *generated,
		       const struct frequency *frequency);

#endif
