/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frequencies of all classes of a procedure at once: what each class's own evidence says,
 * flow conservation, and known branch directions, joined by expectation propagation
 * (Minka, UAI 2001).
 *
 * Evidence of a class is a density over its frequency, of any shape: with stalls that only
 * add, it has a peak where the unstalled ratios are and a long tail below. Conservation and
 * directions are linear, so they keep Gaussians Gaussian: each class's density is stood for
 * by the Gaussian that has its moments once all else that is known is taken into account,
 * and these are improved in turn. The result are marginal distributions: a median, and an
 * interval.
 */
#ifndef DCPI_FREQUENCY_SOLVER_H
#define DCPI_FREQUENCY_SOLVER_H

#include "analysis/frequency/flow_constraints.h"

/**
 * struct frequency_density - evidence of a class: log density at some frequencies
 * @x:     > 0, ascending; must cover all that matters: between two, the log density is
 *         linear; outside it falls off steeply. NULL: no evidence
 * @log:   log density, up to a constant
 * @count: of both, >= 2
 */
struct frequency_density {
	const double *x;
	const double *log;
	uint32_t count;
};

/**
 * struct frequency_link - one class is a share of another: a branch direction
 * @share: frequency of @class is @share times that of @of,
 * @error: give or take @error times that of @of (standard deviation), > 0
 */
struct frequency_link {
	uint32_t class;
	uint32_t of;
	double share;
	double error;
};

/**
 * struct frequency_problem - what to solve
 * @bounds:    of each class: its frequency is not above this, > 0. The scale for all
 *             tolerances: better too big by ten than too small by a tenth
 * @densities: of each class
 * @first:     likewise, to begin with: what of several ways to agree is near to theirs is found.
 *             NULL: @densities
 * @rounds:    of improvement at most; 0: each class's Gaussian is that of its own evidence
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
 * struct frequency_marginal - what is known of a class in the end
 * @low, @high: 5% and 95% of the distribution
 */
struct frequency_marginal {
	double median;
	double low;
	double high;
};

/**
 * frequency_bounds_spread() - upper bounds of classes that have none from those that have
 * @bounds: of each class; INFINITY: not known. Where nothing is known: the greatest one.
 *
 * A class is at most what flows into a node that it flows out of, and so on.
 */
void frequency_bounds_spread(double *bounds, uint32_t class_count,
			     const struct flow_constraints *constraints);

/**
 * frequency_solve() - marginals of all classes
 * @ret: out: one for each class
 *
 * Time: a handful of sparse factorizations, which in graphs of structured programs are
 * linear in their size.
 *
 * Return: 0; -ENOMEM; -E2BIG the graph is too entangled.
 */
int frequency_solve(struct frequency_marginal *ret, const struct frequency_problem *problem);

#endif
