/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the blocks and edges that must have run, given the observed executions.
 *
 * A loop's samples are no evidence of the number of its entries, and samples in one direction of a
 * branch are no evidence of the other direction. So a block without samples has no lower bound,
 * with two exceptions: control cannot have passed through the observed code without this block, or
 * the difference of well-known frequencies around the block determines its frequency.
 */
#ifndef DCPI_FLOW_LOWER_BOUNDS_H
#define DCPI_FLOW_LOWER_BOUNDS_H

#include "analysis/frequency/frequency.h"

/**
 * flow_lower_bounds_apply() - set the lower ends of wide intervals to 0 where code may not have run
 * @frequency: in: estimates by flow; out: for blocks and edges without a lower bound, @low is 0 and
 *             the confidence is low. Values are unchanged
 *
 * Observed are samples, branch directions, and executions by the callers if these are worth at
 * least one observed execution.
 *
 * O((blocks + edges)^2). In graphs where that is too much, all blocks without samples and their
 * edges are treated as if they may not have run.
 *
 * Return: 0 or -ENOMEM.
 */
int flow_lower_bounds_apply(struct frequency *frequency, const struct cfg *cfg,
			    const struct procedure_profile *profile);

#endif
