/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Likelihood of an issue point's samples, given the frequency F of its class. The mean of the
 * Poisson distribution is F M without a stall, and greater with an unknown stall, weighted by the
 * exposure of the instruction to stalls. A small constant term for any F covers errors of M.
 */
#ifndef DCPI_POINT_LIKELIHOOD_H
#define DCPI_POINT_LIKELIHOOD_H

#include "analysis/frequency/issue_point.h"

/* issue_point.insn of a pseudo issue point that represents evidence from other procedures. */
#define POINT_DERIVED UINT32_MAX
/* Relative error of a whole M. */
#define POINT_MODEL_ERROR 0.01

/**
 * point_is_whole() - return true if M is a whole number of cycles, so not an average over edges in.
 */
bool point_is_whole(double cycles);

/** point_is_late() - return true if M is different after mispredictions. */
bool point_is_late(const struct issue_point *point);

/**
 * point_claims() - return the neighbours' samples that may belong to a point, or 0 if negligible.
 */
double point_claims(const struct issue_point *point);

/**
 * point_likelihood_multiply() - multiply a density by the likelihood of a point's samples
 * @log_density: at @n frequencies @x, whose logarithms are @log_x
 * @exposures:   result of stall_exposure_find()
 * @mispredict:  cycles of a misprediction
 */
void point_likelihood_multiply(double *log_density, const double *x, const double *log_x,
			       uint32_t n, const struct issue_point *point,
			       const uint8_t *exposures, double mispredict);

#endif
