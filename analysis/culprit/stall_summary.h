/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Breakdown of the cycles of procedures by cause (DCPI Figure 4).
 *
 * The share of a dynamic stall's cause is a range, since one stall may have several causes. The
 * sums of stalls, execution and noise are exact and add up to all samples.
 */
#ifndef DCPI_STALL_SUMMARY_H
#define DCPI_STALL_SUMMARY_H

#include "analysis/culprit/culprit.h"

/**
 * struct stall_deviation - error of a sum over procedures, to one side
 * @shared: sum of errors that procedures have in common
 * @own:    sum of the squares of independent errors
 */
struct stall_deviation {
	double shared;
	double own;
};

/**
 * struct stall_summary - Figure 4, in samples: breakdown of all samples of the procedures
 * @low, @high:     by cause, CULPRIT_UNEXPLAINED included
 * @dynamic:        all dynamic stalls, explained or not, without @gain
 * @gain:           unexplained gain: faster than the schedule allows; <= 0
 * @stalls:         static, by kind
 * @execution:      issuing
 * @sampling_error: deviations within sampling noise and the frequencies' uncertainty, so that
 *                  @execution + @stalls + @dynamic + @gain + @sampling_error = @tallied
 * @tallied:        samples of instructions that were tallied (with a frequency)
 * @samples:        all samples of the procedures
 * @error_variance: variance of @sampling_error, from the noise of its samples. In order, the
 *                  uncertainty of the frequencies is part of it.
 * @best_cycles, @actual_cycles, @instructions: sums weighted by frequency, so that best-case CPI is
 *                  @best_cycles / @instructions
 * @in_order, @out_of_order: there are procedures of such machines
 * @published:      procedures were analysed by the paper's method, without intervals
 * @fewer, @more:   decrease or increase of @instructions within the intervals of frequencies
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
	bool in_order;
	bool out_of_order;
	bool published;
	struct stall_deviation fewer;
	struct stall_deviation more;
};

/**
 * stall_summary_add() - add a procedure to a summary, which is zero-initialised
 * @culprits: result of culprits_find() for @input
 */
void stall_summary_add(struct stall_summary *summary, const struct culprit_input *input,
		       const struct culprits *culprits);

/**
 * stall_summary_settle() - reduce the sampling error to noise
 * @summary: the complete sum; repeated calls have no effect. Summaries with @published are
 *           unchanged
 *
 * A residual beyond its noise is time that many instructions lost, each too little to be
 * significant. It becomes an unexplained stall of up to that size, or an unexplained gain.
 */
void stall_summary_settle(struct stall_summary *summary);

/** stall_summary_noise() - bound of 90% of sampling errors, in samples. */
double stall_summary_noise(const struct stall_summary *summary);

/**
 * stall_summary_cpi() - compute the interval of the actual CPI
 * @low:  out: no less than the best case
 * @high: out: infinity if the interval of executions includes 0
 */
void stall_summary_cpi(const struct stall_summary *summary, double *low, double *high);

#endif
