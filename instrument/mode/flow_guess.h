/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often blocks and edges are gone, guessed from the code alone (Wu and Larus, "Static
 * branch frequency and program profile analysis", 1994). Of their heuristics there are those
 * that can be told from a graph: loops go on, what ends in a call that never returns is not
 * gone. Ways are as likely otherwise: of opcodes, and of what falls through, nothing was gained
 * in programs that were counted. A loop's turns are one number for all, where they solve for
 * what its branches say.
 */
#ifndef DCPI_INSTRUMENT_FLOW_GUESS_H
#define DCPI_INSTRUMENT_FLOW_GUESS_H

#include "analysis/graph/cfg.h"

/**
 * struct flow_guess - times, if the procedure is entered once; freed by flow_guess_deinit()
 * @block: of each block, >= 0
 * @edge:  of each edge, > 0 if it is reached
 */
struct flow_guess {
	double *block;
	double *edge;
};

/** flow_guess_create() - guess. O(edges). Return: 0 or -ENOMEM. */
int flow_guess_create(struct flow_guess *ret, const struct cfg *cfg);

void flow_guess_deinit(struct flow_guess *guess);

#endif
