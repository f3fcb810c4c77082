/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generated procedures with known frequencies: random structured graphs with random branch
 * probabilities, random schedules, dynamic stalls of all sizes, and samples drawn from these.
 */
#ifndef DCPI_TESTS_PROFILE_GENERATOR_H
#define DCPI_TESTS_PROFILE_GENERATOR_H

#include "analysis/frequency/frequency.h"

/**
 * struct profile_recipe - parameters of a procedure
 * @depth:         of nested constructs: 4 makes about 30 blocks
 * @samples:       approximate number of samples
 * @edge_samples:  each sample also records a branch direction
 * @stall_share:   share of instructions with dynamic stalls; nine times as large for first
 *                 instructions of blocks (0.1 matches simulated machines)
 * @wrong_share:   share of instructions with an M one cycle too big or too small
 */
struct profile_recipe {
	unsigned int depth;
	double samples;
	bool edge_samples;
	double stall_share;
	double wrong_share;
};

/** struct generated_profile - a procedure, its profile, and its true frequencies */
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

/** profile_generate() - generate a procedure; the test aborts if memory runs out */
void profile_generate(struct generated_profile *ret, const struct profile_recipe *recipe,
		      uint64_t *seed);

void generated_profile_deinit(struct generated_profile *generated);

/**
 * struct profile_score - weighted accuracy of estimates: frequencies by samples, edges by
 * executions; divide by @samples and @executions
 * @within:       relative error within 5, 10, 15, 45%
 * @edges_within: the same for edges
 * @covered:      the true frequency is in the interval
 * @far:          error above 15%; @far_flagged: part of @far with low confidence
 * @confident:    confidence is not low
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

/** profile_score_add() - compare an estimate to the true frequencies */
void profile_score_add(struct profile_score *score, const struct generated_profile *generated,
		       const struct frequency *frequency);

#endif
