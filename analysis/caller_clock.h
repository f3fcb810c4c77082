/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executions of a procedure, counted by the clock of a loop that calls it.
 *
 * Registers that a procedure leaves as they are have the caller's values at its samples. Registers
 * that it saves are words of its frame, which are read some time after samples. If one of them is
 * an induction variable of the caller's loop, then pairs of samples in the procedure count
 * iterations of that loop (loop_clock.h), even if the caller itself was never sampled. This works
 * for a short procedure, whose activations are not sampled twice, so that its own loops have no
 * clocks.
 *
 * The iterations, times the calls in each, are the executions of the procedure if:
 * - all calls and jumps to the procedure are known (image_code_callers()) and in one other
 *   procedure, so that it neither recurses nor has callers that are not counted. If there are
 *   several, the observed returns must show that nearly all executions are those of one;
 * - calls are in one loop, and their blocks are executed once in each step of the clock. Others are
 *   outside of all loops, such as the call for the remainder of a loop;
 * - the loop calls no other procedure, in which iterations would pass without samples of this one.
 *
 * In the time that no pair covers, there may be no calls, or, outside of the loop or from other
 * procedures, many. So the variance of the result grows with the share of that time, and if the
 * variance is large, there is no result.
 */
#ifndef DCPI_CALLER_CLOCK_H
#define DCPI_CALLER_CLOCK_H

#include "analysis/image_samples.h"

/**
 * caller_clock_take() - count the executions of a procedure
 * @profile: of the procedure, with its pairs; in and out: @calls_in, @calls_in_weight and
 *           @calls_measured, if there is such a clock
 * @cfg:     of the procedure
 * @parts:   of the procedure, @count
 *
 * Return: 0 or -ENOMEM.
 */
int caller_clock_take(struct procedure_profile *profile, const struct cfg *cfg,
		      struct image_code *code, const struct image_samples *samples,
		      const struct image_range *parts, size_t count);

#endif
