/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trip counts of loops, from the remaining executions of their branches at samples
 * (daemon/source/branch_ahead.h), as evidence for the directions of these branches.
 *
 * Let q be the probability that a branch leaves its loop, per execution. If samples are spread
 * evenly over the iterations, the density of the remaining executions at 1, 2, .. is q: each end of
 * the loop is preceded by one iteration with 1 left, one with 2 left, and so on. Beyond the
 * shortest trip count the density decreases. If the loop is mostly left by other exits, it
 * increases instead, because few entries get near the end. So q is the number of samples with at
 * most x executions left, divided by x and by the number of all samples, for any x up to which the
 * density is even. This holds for any distribution of trip counts, and if the loop has other exits.
 * The largest such x is used.
 *
 * Sampled directions (flow_fit.h) see only the last few iterations of loops, which are few samples
 * of long ones.
 *
 * Two errors are possible, and are checked. First, the remaining executions of a sample assume that
 * the compared difference changes by a constant, so it must depend on an induction variable of the
 * code. Second, they may be known more often near the end of the loop. Samples without a known
 * number then belong to iterations far from the end. These samples are counted, and q is between
 * the results with and without them.
 */
#ifndef DCPI_FLOW_TRIPS_H
#define DCPI_FLOW_TRIPS_H

#include "analysis/frequency/flow_fit.h"
#include "analysis/frequency/frequency.h"
#include "db/profile.h"

/**
 * struct loop_exit - a branch that leaves its loop, and its measured probability
 * @leave, @stay: edges
 * @probability:  of @leave
 * @samples:      that it was derived from
 * @variance:     of the logarithm of @probability
 */
struct loop_exit {
	uint32_t leave;
	uint32_t stay;
	double probability;
	double samples;
	double variance;
};

/**
 * loop_exit_measure() - find the probability from one branch's remaining executions
 * @counts:  samples by class
 * @unknown: samples of the loop with an unknown number of remaining executions
 *
 * Return: false if there are too few samples.
 */
bool loop_exit_measure(struct loop_exit *ret, const double counts[PROFILE_REMAINING_CLASSES],
		       double unknown);

/**
 * flow_trips_take() - replace the directions of branches whose probabilities were measured
 * @evidence: in: with sampled directions; out: those of these branches are replaced where the
 *            measurement has less uncertainty
 *
 * Return: 0 or -ENOMEM.
 */
int flow_trips_take(struct flow_evidence *evidence, const struct frequency_input *input);

#endif
