/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How likely an issue point's samples are, if its class has some frequency F: Poisson with
 * mean F M where nothing stalls; more by an unknown stall, as likely as the instruction is
 * exposed to some; and a little, whatever F is, since M may be wrong.
 */
#ifndef DCPI_POINT_LIKELIHOOD_H
#define DCPI_POINT_LIKELIHOOD_H

#include "analysis/frequency/issue_point.h"

/* issue_point.insn of what other procedures say of the class, as if it were an issue point. */
#define POINT_TOLD UINT32_MAX
/* How far a whole M can be relied on, relatively. */
#define POINT_MODEL_ERROR 0.01

/** point_is_whole() - whether M is a whole number of cycles, so no average over ways in. */
bool point_is_whole(double cycles);

/** point_is_late() - whether M is another one behind mispredicts. */
bool point_is_late(const struct issue_point *point);

/** point_claims() - neighbours' samples that may be a point's own, if they matter; or 0. */
double point_claims(const struct issue_point *point);

/**
 * point_likelihood_multiply() - multiply a density by what a point says
 * @log_density: at frequencies @x, whose logs are @log_x, @n of them
 * @exposures:   as of stall_exposure_find()
 * @mispredict:  cycles that one takes
 */
void point_likelihood_multiply(double *log_density, const double *x, const double *log_x,
			       uint32_t n, const struct issue_point *point,
			       const uint8_t *exposures, double mispredict);

#endif
