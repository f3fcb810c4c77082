/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An upper bound of a procedure's frequencies: its executions, each at its best case, take no
 * longer than was sampled.
 *
 * On out-of-order machines a procedure's frequencies are known up to a common factor, which
 * calls and probes may move by orders of magnitude. Each single block may seem faster than
 * its best case, since samples fall on its neighbours; all blocks together cannot be, nor a block
 * with most of the samples around it. So these are bounded, and all frequencies of the procedure
 * are lowered alike.
 */
#ifndef DCPI_FREQUENCY_BOUND_H
#define DCPI_FREQUENCY_BOUND_H

#include "analysis/frequency/frequency.h"

/** enum frequency_bound_result - how estimates stand to the time that was sampled */
enum frequency_bound_result {
	FREQUENCY_BOUND_KEPT,	      /* they are within the bound */
	FREQUENCY_BOUND_LOWERED,      /* they were beyond it, their intervals were not */
	FREQUENCY_BOUND_CONTRADICTED, /* even the lower ends of their intervals were */
};

/**
 * frequency_bound() - lower a procedure's frequencies to the time sampled
 * @frequency: estimates for @input. The noise of sampling and the error of best cases bound the
 *             upper ends of intervals. Contradicted estimates are lowered, too, but are
 *             unreliable
 *
 * Afterwards the sum of value * best case is at most the samples in blocks that have a
 * frequency. In order it may exceed these by the noise of sampling. Exact counts and procedures
 * without samples stay as they are.
 */
enum frequency_bound_result frequency_bound(struct frequency *frequency,
					    const struct frequency_input *input);

#endif
