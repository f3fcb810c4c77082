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
 * @best_cycles, @actual_cycles, @instructions: sums weighted by frequency, so that
 *                best-case CPI is @best_cycles / @instructions
 */
struct stall_summary {
	double low[CULPRIT_CAUSES + 1];
	double high[CULPRIT_CAUSES + 1];
	double dynamic;
	double gain;
	double stalls[STALL_KINDS];
	double execution;
	double sampling_error;
	double tallied;
	double samples;
	double best_cycles;
	double actual_cycles;
	double instructions;
};

/**
 * stall_summary_add() - add a procedure to a summary, which begins all zero
 * @culprits: of culprits_find() for @input
 */
void stall_summary_add(struct stall_summary *summary, const struct culprit_input *input,
		       const struct culprits *culprits);

#endif
