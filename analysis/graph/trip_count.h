/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many times loops go round, where the code says so: a register starts from a constant,
 * moves on by a constant each time, and is compared with a constant by the only branch that
 * leaves. Or it starts that far from what it is compared with: an array of known length,
 * gone through by a pointer.
 *
 * Compilers find the same ("scalar evolution"; Bachmann, Wang and Zima, "Chains of
 * recurrences", ISSAC 1994), of loops that they then leave in the code.
 */
#ifndef DCPI_TRIP_COUNT_H
#define DCPI_TRIP_COUNT_H

#include "analysis/graph/cfg.h"

/**
 * struct trip_count - a loop's
 * @block: ends in the branch that leaves
 * @leave: its edge out of the loop; ways that end in a call that never returns are not counted
 * @stay:  its edge that stays
 * @turns: executions of the branch for each time that the loop is entered, >= 1
 * @varies: that is an average: it depends on how far loops around it have got
 */
struct trip_count {
	uint32_t block;
	uint32_t leave;
	uint32_t stay;
	double turns;
	bool varies;
};

/** struct trip_counts - of a graph, by block. */
struct trip_counts {
	struct trip_count *list;
	uint32_t count;
};

/**
 * trip_counts_find() - O((blocks + edges) x depth of loops), as a rule
 * @ret:    out; freed by trip_counts_deinit()
 * @doomed: of each block (cfg_doomed.h)
 *
 * Return: 0 or -ENOMEM.
 */
int trip_counts_find(struct trip_counts *ret, const struct cfg *cfg, const bool *doomed);

void trip_counts_deinit(struct trip_counts *counts);

#endif
