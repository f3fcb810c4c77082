/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Joint frequencies of all classes of a procedure: the evidence of each class, flow conservation
 * and known branch directions, combined by expectation propagation (Minka, UAI 2001).
 *
 * The evidence of a class is a density of any shape over its frequency. Since stalls only add time,
 * the density has a peak at the unstalled ratios and a long tail below. Conservation and directions
 * are linear, so Gaussians stay Gaussian under them. Each class's density is approximated by the
 * Gaussian with the moments that the density has in combination with all other evidence. These
 * approximations are refined class by class, repeatedly. The results are marginal distributions: a
 * median and an interval.
 */
#ifndef DCPI_FREQUENCY_SOLVER_H
#define DCPI_FREQUENCY_SOLVER_H

#include "analysis/frequency/flow_constraints.h"

/**
 * struct frequency_density - evidence of a class: log density at some frequencies
 * @x:     > 0, ascending; must cover the relevant range. The log density is linear between two
 *         points and falls steeply outside. NULL: no evidence
 * @log:   log density, up to a constant
 * @count: number of elements of both arrays, >= 2
 */
struct frequency_density {
	const double *x;
	const double *log;
	uint32_t count;
};

/**
 * struct frequency_link - one class is a share of another: a branch direction
 * @share: the frequency of @class is @share times that of @of
 * @error: standard deviation of the frequency of @class, in units of the frequency of @of; > 0
 */
struct frequency_link {
	uint32_t class;
	uint32_t of;
	double share;
	double error;
};

/**
 * struct frequency_problem - input of frequency_solve()
 * @bounds:    upper bound of each class's frequency, > 0. They are the scale of all tolerances: a
 *             bound ten times too high is better than one that is 10% too low
 * @densities: evidence of each class
 * @first:     evidence for the first iterations: of several solutions, the one near these densities
 *             is found. NULL: @densities
 * @rounds:    upper bound on the number of iterations; 0: each class's Gaussian is that of its own
 *             evidence
 */
struct frequency_problem {
	const struct flow_constraints *constraints;
	const struct frequency_density *densities;
	const struct frequency_density *first;
	const double *bounds;
	const struct frequency_link *links;
	size_t link_count;
	uint32_t class_count;
	unsigned int rounds;
};

/**
 * struct frequency_marginal - resulting distribution of a class's frequency
 * @low, @high: 5% and 95% quantiles
 */
struct frequency_marginal {
	double median;
	double low;
	double high;
};

/**
 * frequency_bounds_spread() - derive upper bounds of classes without one from classes with one
 * @bounds: of each class; INFINITY: unknown. Classes that no constraint bounds get the greatest
 *          bound.
 *
 * The frequency of a class is at most the inflow of a node that the class flows out of, and so on.
 */
void frequency_bounds_spread(double *bounds, uint32_t class_count,
			     const struct flow_constraints *constraints);

/**
 * frequency_solve() - compute the marginals of all classes
 * @ret: out: one for each class
 *
 * Time: a few sparse factorizations, each linear in the size of the graph for structured programs.
 *
 * Return: 0; -ENOMEM; -E2BIG if factorizing the graph would take too much work.
 */
int frequency_solve(struct frequency_marginal *ret, const struct frequency_problem *problem);

#endif
