/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Remaining executions: how often a loop's branch will be executed until the loop ends, as seen
 * from a sample.
 *
 * The branch of a counting loop tests a difference that changes by a constant from one execution to
 * the next: of a counter and a bound, or of two pointers. Interpretation after a sample passes the
 * branch several times. From two of its differences follows when they reach 0. So the length of a
 * loop is measured without the time that it takes, and without waiting for its end.
 *
 * Samples are spread over the iterations of a loop. If entries of a loop have n iterations, then
 * one n-th of all samples has one execution left, and so on (analysis/frequency/flow_trips.h).
 *
 * Only the logarithm of the remaining executions leaves this part. Differences of values that do
 * not behave like a counter are ignored.
 *
 * A snapshot contains only some of the memory, and the number may be known only near the end of the
 * loop, for example where the memory at the beginning of an array is known. So samples without a
 * number are counted, too.
 */
#ifndef DCPI_BRANCH_REMAINING_H
#define DCPI_BRANCH_REMAINING_H

#include <stdint.h>

#include "kmod/core/interpret.h"

/** struct branch_remaining - remaining executions of a branch; @class: see PROFILE_EDGE_REMAINING
 */
struct branch_remaining {
	uint64_t branch;
	uint32_t class;
};

/**
 * branch_remaining_find() - find the remaining executions of the branches on a path
 * @ret:   out: room for @count, and at least 1. If the remaining executions of no branch are known:
 *         the first conditional branch, with PROFILE_REMAINING_UNKNOWN
 * @path:  @count edges in order of execution
 * @stuck: the branch after the path if its direction is unknown, or 0
 *
 * O(@count^2). Return: the number of branches found.
 */
uint32_t branch_remaining_find(struct branch_remaining *ret, const struct interpret_edge *path,
			       uint32_t count, uint64_t stuck);

#endif
