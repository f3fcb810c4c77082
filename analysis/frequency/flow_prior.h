/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Directions of branches that nothing was observed of, as a weak prior for the fit of the flow
 * (flow_fit.h). Any observation outweighs it.
 *
 * A branch around a loop that compares with 0 mostly leads into the loop: compilers put it there
 * because the trip count may be 0.
 *
 * Sources: Ball and Larus, "Branch Prediction for Free", PLDI 1993, loop header heuristic; Wu and
 * Larus, "Static Branch Frequency and Program Profile Analysis", MICRO 1994. The latter combine it
 * with the opcode heuristic: a number is mostly not 0.
 */
#ifndef DCPI_FLOW_PRIOR_H
#define DCPI_FLOW_PRIOR_H

#include <stdbool.h>

#include "analysis/frequency/flow_chain.h"

/**
 * flow_prior_find() - find the prior of each edge
 * @ret:    out: executions of each edge of @chain that the prior stands for, > 0
 * @noreturn: of each block (noreturn_blocks.h)
 *
 * O(edges). Return: 0 or -ENOMEM.
 */
int flow_prior_find(double *ret, const struct flow_chain *chain, const struct cfg *cfg,
		    const bool *noreturn);

#endif
