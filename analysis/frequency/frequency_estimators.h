/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The estimators of frequency.h, and helpers that they share.
 */
#ifndef DCPI_FREQUENCY_ESTIMATORS_H
#define DCPI_FREQUENCY_ESTIMATORS_H

#include <math.h>

#include "analysis/frequency/frequency.h"

extern const struct frequency_estimator frequency_joint;   /* frequency_joint.c */
extern const struct frequency_estimator frequency_paper;   /* frequency_paper.c */
extern const struct frequency_estimator frequency_average; /* frequency_average.c */
extern const struct frequency_estimator frequency_maximum; /* frequency_average.c */

/**
 * frequency_flow() - implement "dcpi" on out-of-order machines: flow and branch directions, with
 * time as weak evidence (see flow_fit.h)
 */
int frequency_flow(struct frequency *ret, const struct frequency_input *input);

/*
 * Standard deviation of the logarithm of a procedure's actual time relative to the modelled time.
 */
#define FREQUENCY_FLOW_PROCEDURE_SPREAD 0.35

/**
 * struct frequency_flow_scale - the factor that all estimates of a procedure have in common
 * @measured: a block was measured (struct frequency_estimate), and so the factor is known
 * @spread:   standard deviation of its logarithm, apart from the common uncertainty of a whole
 *            program or procedure; that of the most certain block
 */
struct frequency_flow_scale {
	bool measured;
	double spread;
};

/** frequency_flow_scale() - return the certainty of a procedure's factor, O(blocks). */
struct frequency_flow_scale frequency_flow_scale(const struct frequency *frequency,
						 const struct cfg *cfg);

/**
 * frequency_flow_spread() - return the uncertainty of an estimate, apart from that of its factor
 * @scale: of the procedure
 *
 * Return: the standard deviation of the logarithm.
 */
double frequency_flow_spread(const struct frequency_estimate *estimate,
			     const struct frequency_flow_scale *scale);

/** frequency_from_classes() - assign each block and edge the estimate of its class. */
void frequency_from_classes(struct frequency *ret, const struct frequency_input *input,
			    const struct frequency_estimate *classes);

#endif
