/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Branches ahead of a sample: where they go, and how often they will be executed until their loops
 * end.
 *
 * Interpretation from a sample follows the next few branches one by one: these are the near ones.
 * It then continues to branches of outer loops and of callers, and skips iterations of counting
 * loops. If the tested difference of a branch has changed by the same constant twice, its loop ends
 * when the difference reaches 0. Registers that have changed by constants, too, are advanced to the
 * last iterations. All others become unknown. So loops whose trip counts are arguments are
 * measured, however long their iterations take.
 *
 * Where the interpretation ends early, at data that the snapshot does not contain, the branches
 * that end the loops around the sample are found in the code. The instructions before such a
 * branch, interpreted twice with the registers of the sample, show its next two differences. The
 * analysis uses them only if the branch tests an induction variable of the loop.
 *
 * Remaining executions: the branch of a counting loop tests a difference that changes by a constant
 * from one execution to the next: of a counter and a bound, or of two pointers. From two of its
 * differences follows when they reach 0. So the length of a loop is measured without the time that
 * it takes, and without waiting for its end. Samples are spread over the iterations of a loop. If
 * entries of a loop have n iterations, then one n-th of all samples has one execution left, and so
 * on (analysis/frequency/flow_trips.h).
 *
 * Only directions and the logarithm of the remaining executions leave this part. Differences of
 * values that do not behave like a counter are ignored.
 *
 * A snapshot contains only some of the memory, and the number may be known only near the end of the
 * loop, for example where the memory at the beginning of an array is known. So samples without a
 * number are counted, too.
 */
#ifndef DCPI_BRANCH_AHEAD_H
#define DCPI_BRANCH_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "kmod/core/interpret.h"

/* Branches one by one; branches after these; and limits of the interpretation. */
#define BRANCH_AHEAD_NEAR 8
#define BRANCH_AHEAD_FAR 8
#define BRANCH_AHEAD_EDGES 160
#define BRANCH_AHEAD_STEPS 1024
/* Different conditional branches. Each has the states at its last executions. */
#define BRANCH_AHEAD_BRANCHES 16
#define BRANCH_AHEAD_STATES 2
/* Loops around a sample, and instructions after it among which their ends are searched. */
#define BRANCH_AHEAD_LATCHES 4
#define BRANCH_AHEAD_LATCH_INSNS 160
#define BRANCH_AHEAD_REMAINING (BRANCH_AHEAD_BRANCHES + BRANCH_AHEAD_LATCHES)

/**
 * struct branch_execution - a conditional branch on the way
 * @from:       its address
 * @first_to:   where its first execution went; @first_result: its tested difference
 * @last_result, @change: of the last execution, and from the one before; @has_change: known
 * @executions: so far, those skipped included, until the direction changed (@ended)
 * @lost:       the remaining number cannot be found
 * @steady:     number of executions in sequence with the same change of the result
 * @edge:       number of the edge of its last execution
 * @begun:      numbers of the edges at which @states were taken
 * @states:     at its last executions, the newest first
 */
struct branch_execution {
	uint64_t from;
	uint64_t first_to;
	uint64_t last_to;
	int64_t first_result;
	int64_t last_result;
	int64_t change;
	double executions;
	bool has_result;
	bool has_change;
	bool ended;
	bool lost;
	uint32_t steady;
	uint32_t edge;
	uint32_t begun[BRANCH_AHEAD_STATES];
	struct interpret_state states[BRANCH_AHEAD_STATES];
};

/** struct branch_remaining - remaining executions of a branch; @class: see PROFILE_EDGE_REMAINING
 */
struct branch_remaining {
	uint64_t branch;
	uint32_t class;
};

/** struct branch_latch - the next two differences that a branch at the end of a loop tests */
struct branch_latch {
	uint64_t branch;
	int64_t results[2];
};

/**
 * struct branch_ahead - zero-initialised is the beginning; results:
 * @near: @near_count edges in order of execution
 * @near_known: the caller has set @near and @near_count
 * @far:  @far_count first edges of branches that are not among @near
 * The other members are private.
 */
struct branch_ahead {
	struct interpret_edge near[BRANCH_AHEAD_NEAR];
	struct interpret_edge far[BRANCH_AHEAD_FAR];
	uint32_t near_count;
	bool near_known;
	uint32_t far_count;
	uint32_t edge_count;
	uint32_t branch_count;
	uint32_t latch_count;
	struct branch_latch latches[BRANCH_AHEAD_LATCHES];
	struct branch_execution branches[BRANCH_AHEAD_BRANCHES];
};

/** branch_ahead_init() - begin; O(1) */
void branch_ahead_init(struct branch_ahead *ahead);

/**
 * branch_ahead_visit() - take the next edge; interpret_visitor.visit
 * @context: struct branch_ahead
 *
 * Return: false: enough edges were found.
 */
bool branch_ahead_visit(void *context, struct interpret_state *state,
			const struct interpret_edge *edge, bool *skipped);

/** branch_ahead_latch() - add the next two executions of a branch at the end of a loop */
void branch_ahead_latch(struct branch_ahead *ahead, const struct interpret_edge edges[2]);

/**
 * branch_ahead_remaining() - find the remaining executions of branches
 * @ret:   out: room for BRANCH_AHEAD_REMAINING. If the remaining executions of no near branch are
 *         known: also the first conditional branch, with PROFILE_REMAINING_UNKNOWN
 * @stuck: the branch after the near edges if its direction is unknown, or 0
 *
 * Return: the number of branches found.
 */
uint32_t branch_ahead_remaining(const struct branch_ahead *ahead,
				struct branch_remaining ret[BRANCH_AHEAD_REMAINING],
				uint64_t stuck);

#endif
