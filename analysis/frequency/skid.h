/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Skid of machines that issue in order: where interrupts come when the instruction at the
 * head of the issue queue has left it, samples fall on the one that is executed next. DCPI
 * had none: a 21164 says what is at the head six cycles after an overflow.
 *
 * Nothing says so but the samples: an instruction that issues together with the one before
 * is never at the head, so has none. With skid it has those of the one before, and the one
 * behind it has none.
 */
#ifndef DCPI_SKID_H
#define DCPI_SKID_H

#include "analysis/graph/cfg.h"
#include "analysis/machine/schedule.h"

/** struct skid_votes - of samples that could tell: @punctual and @late. Zeroed: of none. */
struct skid_votes {
	double punctual;
	double late;
};

/** skid_votes_add() - add what a procedure's @samples, one number an instruction, say. */
void skid_votes_add(struct skid_votes *votes, const struct cfg *cfg,
		    const struct schedule *schedule, const double *samples);

/** skid_is_late() - whether samples fall on the instruction executed next. */
bool skid_is_late(const struct skid_votes *votes);

/**
 * skid_take_back() - give samples to the instructions that were executed before
 * @ret:      out: one number an instruction; the sum is that of @taken
 * @unsure:   out, of each instruction: most of what it has may be others'
 * @taken:    where they fell
 * @weights:  frequency of each edge, as estimated; NULL: not known yet
 *
 * Within a block that is one step. What fell on a block's first instruction belongs to last
 * ones of the blocks before it: how much to which is a mixture, whose parts are as probable
 * as ways were taken, and is solved by expectation maximisation. The procedure is taken to
 * be entered as it is left: what falls on its entry waited for its calls elsewhere, and is
 * given to its returns, whose own has fallen on what is behind those calls. So returns and
 * calls are unsure, and last instructions of blocks that others lead to the same as well.
 * O(instructions + edges).
 *
 * Return: 0 or -ENOMEM.
 */
int skid_take_back(double *ret, bool *unsure, const struct cfg *cfg,
		   const struct schedule *schedule, const double *taken, const double *weights);

#endif
