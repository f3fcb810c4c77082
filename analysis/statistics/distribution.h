/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Distributions for tests and intervals. GSL has them too, but its license is incompatible with
 * ours. Chi-square: relative error below 1e-10 for tails down to 1e-300; Student's t: absolute
 * error below 1e-12.
 */
#ifndef DCPI_DISTRIBUTION_H
#define DCPI_DISTRIBUTION_H

/** distribution_chi_square_tail() - P(X > @x), chi-square with @df > 0 degrees of freedom. */
double distribution_chi_square_tail(double x, double df);

/** distribution_chi_square_quantile() - x such that P(X > x) = @tail, 0 < @tail < 1. */
double distribution_chi_square_quantile(double tail, double df);

/** distribution_student_tail() - P(T > @t), Student's t with @df >= 1 degrees of freedom. */
double distribution_student_tail(double t, unsigned int df);

/** distribution_student_quantile() - t such that P(T > t) = @tail, 0 < @tail <= 0.5. */
double distribution_student_quantile(double tail, unsigned int df);

#endif
