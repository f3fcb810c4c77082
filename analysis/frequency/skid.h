/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Skid on in-order machines: if the interrupt arrives after the instruction at the head of the
 * issue queue has left it, the sample falls on the instruction executed next. DCPI had no skid: a
 * 21164 reports the head of the queue six cycles after an overflow.
 *
 * Only the samples themselves show skid. An instruction that issues together with the previous one
 * is never at the head of the queue, so without skid it has no samples. With skid it has the
 * samples of the previous instruction, and the instruction after it has none.
 */
#ifndef DCPI_SKID_H
#define DCPI_SKID_H

#include "analysis/graph/cfg.h"
#include "analysis/machine/schedule.h"

/** struct skid_votes - samples for (@late) and against (@punctual) skid; zero-initialised. */
struct skid_votes {
	double punctual;
	double late;
};

/** skid_votes_add() - add the votes of a procedure's @samples, one element for each instruction. */
void skid_votes_add(struct skid_votes *votes, const struct cfg *cfg,
		    const struct schedule *schedule, const double *samples);

/** skid_is_late() - return true if samples fall on the instruction executed next. */
bool skid_is_late(const struct skid_votes *votes);

/**
 * skid_take_back() - move samples to the instructions that were executed before
 * @ret:     out: one number for each instruction; the sum is that of @taken
 * @unsure:  out, for each instruction: most of its samples may belong to other instructions
 * @taken:   samples of each instruction as they fell
 * @weights: estimated frequency of each edge; NULL: not known yet
 *
 * Within a block, a sample moves by one instruction. Samples on a block's first instruction belong
 * to the last instructions of its predecessors. Their distribution is a mixture with the
 * probabilities of the edges taken, solved by expectation maximisation.
 *
 * The procedure is assumed to be entered as often as it is left. Samples on its entry belong to the
 * calls in its callers. They are assigned to its returns instead, because the samples of the
 * returns fell on the instructions after these calls. So returns and calls are unsure, as are the
 * last instructions of blocks that share a successor with other blocks.
 *
 * O(instructions + edges).
 *
 * Return: 0 or -ENOMEM.
 */
int skid_take_back(double *ret, bool *unsure, const struct cfg *cfg,
		   const struct schedule *schedule, const double *taken, const double *weights);

#endif
