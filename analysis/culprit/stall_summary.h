/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the cycles of procedures went, by cause (DCPI Figure 4).
 *
 * Causes of dynamic stalls have a range, since one stall may have several; the sums
 * of stalls, of execution and of what is noise are exact, and add up to all samples.
 */
#ifndef DCPI_STALL_SUMMARY_H
#define DCPI_STALL_SUMMARY_H

#include "analysis/culprit/culprit.h"

/**
 * struct stall_deviation - how far a sum over procedures may be off, to one side
 * @shared: errors that procedures have in common: these add up
 * @own:    squares of independent errors
 */
struct stall_deviation {
	double shared;
	double own;
};

/**
 * struct stall_summary - Figure 4, in samples: where all samples of a procedure went
 * @low, @high:   by cause, CULPRIT_UNEXPLAINED included
 * @dynamic:      all dynamic stalls, explained or not, @gain not included
 * @gain:         unexplained gain: faster than the schedule allows; <= 0
 * @stalls:       static, by kind
 * @execution:    issuing
 * @sampling_error: what is within the noise of sampling and of the frequencies, so that
 *                @execution + @stalls + @dynamic + @gain + @sampling_error = @tallied
 * @tallied:      samples of instructions that were tallied (with a frequency)
 * @samples:      all samples of the procedures
 * @error_variance: variance of @sampling_error, from the noise of its samples. In order, the
 *                uncertainty of the frequencies is part of it.
 * @best_cycles, @actual_cycles, @instructions: sums weighted by frequency, so that
 *                best-case CPI is @best_cycles / @instructions
 * @published:    procedures were analysed as the paper did it, without intervals
 * @fewer, @more: how many fewer or more @instructions the intervals of frequencies allow
 */
struct stall_summary {
	double low[CULPRIT_CAUSES + 1];
	double high[CULPRIT_CAUSES + 1];
	double dynamic;
	double gain;
	double stalls[STALL_KINDS];
	double execution;
	double sampling_error;
	double error_variance;
	double tallied;
	double samples;
	double best_cycles;
	double actual_cycles;
	double instructions;
	bool published;
	struct stall_deviation fewer;
	struct stall_deviation more;
};

/**
 * stall_summary_add() - add a procedure to a summary, which begins all zero
 * @culprits: of culprits_find() for @input
 */
void stall_summary_add(struct stall_summary *summary, const struct culprit_input *input,
		       const struct culprits *culprits);

/**
 * stall_summary_settle() - leave no more than noise in the sampling error
 * @summary: a sum that is complete; more calls change nothing. One as published stays as it is
 *
 * A residual beyond its noise is time that many instructions lost, each too little to be seen:
 * it becomes an unexplained stall, for none to all of it; or an unexplained gain.
 */
void stall_summary_settle(struct stall_summary *summary);

/** stall_summary_noise() - nine in ten sampling errors are no larger than this, in samples. */
double stall_summary_noise(const struct stall_summary *summary);

/**
 * stall_summary_cpi() - the interval of the actual CPI
 * @low:  out: no less than the best case; @high: out: infinity: executions may be none
 */
void stall_summary_cpi(const struct stall_summary *summary, double *low, double *high);

#endif
