/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trip counts of loops, where the code determines them. A register starts at a constant, changes by
 * a constant in each iteration, and is compared with a constant by the only branch that leaves the
 * loop. Or the register and the compared value start at a constant distance, as for a pointer that
 * traverses an array of known length.
 *
 * Compilers do the same analysis ("scalar evolution"; Bachmann, Wang and Zima, "Chains of
 * recurrences", ISSAC 1994); these are the loops that they leave in the code.
 */
#ifndef DCPI_TRIP_COUNT_H
#define DCPI_TRIP_COUNT_H

#include "analysis/graph/cfg.h"

/**
 * struct trip_count - the trip count of a loop
 * @block:  block that ends in the branch that leaves
 * @leave:  its edge out of the loop; exits to no-return blocks are ignored
 * @stay:   its edge that stays
 * @trips:  executions of the branch per entry of the loop, >= 1
 * @varies: the count is an average: the trip count depends on the iterations of outer loops
 */
struct trip_count {
	uint32_t block;
	uint32_t leave;
	uint32_t stay;
	double trips;
	bool varies;
};

/**
 * struct trip_ratio - iterations of a loop that several branches leave, per entry of it
 * @header: of the loop; executed once in each iteration
 * @before: the only block from which the loop is entered, and which leads nowhere else
 *
 * Compilers copy the end of a loop to several places in its body ("jump threading"). All copies
 * change the same register and test it against the same end.
 */
struct trip_ratio {
	uint32_t header;
	uint32_t before;
	double trips;
	bool varies;
};

/** struct trip_counts - trip counts of a graph, by block, and ratios of loops with several exits */
struct trip_counts {
	struct trip_count *list;
	uint32_t count;
	struct trip_ratio *ratios;
	uint32_t ratio_count;
};

/**
 * trip_counts_find() - find trip counts, usually O((blocks + edges) x depth of loops)
 * @ret:    out; freed by trip_counts_deinit()
 * @noreturn: of each block (noreturn_blocks.h)
 *
 * Return: 0 or -ENOMEM.
 */
int trip_counts_find(struct trip_counts *ret, const struct cfg *cfg, const bool *noreturn);

void trip_counts_deinit(struct trip_counts *counts);

#endif
