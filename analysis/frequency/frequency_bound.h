/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Upper bound of a procedure's frequencies: its executions, each taking its best case, take at most
 * the sampled time.
 *
 * On out-of-order machines a procedure's frequencies are known up to a common factor, which calls
 * and probes may change by orders of magnitude. A single block may appear faster than its best
 * case, because some of its samples fall on its neighbours. All blocks of a procedure together
 * cannot be faster, nor can a block that has most of the samples around it. So the frequencies of
 * these are bounded, and all frequencies of the procedure are lowered by the same factor.
 */
#ifndef DCPI_FREQUENCY_BOUND_H
#define DCPI_FREQUENCY_BOUND_H

#include "analysis/frequency/frequency.h"

/** enum frequency_bound_result - result of comparing estimates with the sampled time */
enum frequency_bound_result {
	FREQUENCY_BOUND_KEPT, /* they are within the bound */
	/* exceeded it, but the lower ends of their intervals did not */
	FREQUENCY_BOUND_LOWERED,
	FREQUENCY_BOUND_CONTRADICTED, /* even the lower ends of their intervals exceeded it */
};

/**
 * frequency_bound() - lower a procedure's frequencies until they fit the sampled time
 * @frequency: estimates for @input. Sampling noise and the error of the best case determine the
 *             upper ends of the bounded intervals. Contradicted estimates are lowered, too, but are
 *             unreliable
 *
 * Afterwards the sum of value * best case is at most the number of samples in blocks that have a
 * frequency. In order it may exceed that number by the sampling noise. Exact counts and procedures
 * without samples are unchanged. Out of order, measured values are lowered within their intervals
 * only, and in order they are unchanged.
 */
enum frequency_bound_result frequency_bound(struct frequency *frequency,
					    const struct frequency_input *input);

#endif
