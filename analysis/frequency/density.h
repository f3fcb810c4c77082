/* SPDX-License-Identifier: GPL-2.0-only */
/* Moments and quantiles of one-dimensional densities: numeric integration on a grid. */
#ifndef DCPI_DENSITY_H
#define DCPI_DENSITY_H

#include <stdint.h>

#include "analysis/frequency/frequency_solver.h"

/* Points that density_moments() adds to those of the evidence. */
#define DENSITY_CAVITY_POINTS 15
#define DENSITY_FLAT_POINTS 17

/** struct density_grid - memory for an integration; @capacity points in each array. */
struct density_grid {
	double *x;
	double *weight; /* density at the point, not normalised */
	uint32_t count;
	uint32_t capacity;
};

/** struct density_moments - mean and variance of a distribution. */
struct density_moments {
	double mean;
	double variance;
};

/**
 * density_multiply() - multiply evidence by a Gaussian, on the frequencies 0 .. @bound
 * @ret:      @capacity >= evidence points + DENSITY_CAVITY_POINTS + DENSITY_FLAT_POINTS
 * @evidence: no evidence if @x is NULL
 * @gaussian: no Gaussian if @variance is INFINITY
 */
void density_multiply(struct density_grid *ret, const struct frequency_density *evidence,
		      const struct density_moments *gaussian, double bound);

/** density_moments() - return mean and variance of a product made by density_multiply(). */
struct density_moments density_moments(const struct density_grid *grid);

/**
 * density_quantiles() - find the quantiles of a density
 * @ret:    out: one quantile for each share
 * @shares: @count probabilities, 0 .. 1, ascending
 */
void density_quantiles(double *ret, const struct density_grid *grid, const double *shares,
		       uint32_t count);

#endif
