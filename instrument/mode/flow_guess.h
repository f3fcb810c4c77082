/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Estimate execution frequencies of blocks and edges from the code alone (Wu and Larus, "Static
 * branch frequency and program profile analysis", 1994). Only the paper's heuristics that depend on
 * the graph alone are used: loops iterate, and paths that end in a noreturn call are not taken. All
 * other branch directions are equally likely: heuristics on opcodes and on fall-through did not
 * improve the estimate on programs with exact counts. All loops have the same trip count; the paper
 * derives it from the loop's branches.
 */
#ifndef DCPI_INSTRUMENT_FLOW_GUESS_H
#define DCPI_INSTRUMENT_FLOW_GUESS_H

#include "analysis/graph/cfg.h"

/**
 * struct flow_guess - frequencies per entry of the procedure; freed by flow_guess_deinit()
 * @block: for each block, >= 0
 * @edge:  for each edge, > 0 if it is reached
 */
struct flow_guess {
	double *block;
	double *edge;
};

/** flow_guess_create() - estimate the frequencies. O(edges). Return: 0 or -ENOMEM. */
int flow_guess_create(struct flow_guess *ret, const struct cfg *cfg);

void flow_guess_deinit(struct flow_guess *guess);

#endif
