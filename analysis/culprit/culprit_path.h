/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Backward along the ways that lead to a stalled instruction. Internal to culprit*.c.
 */
#ifndef DCPI_CULPRIT_PATH_H
#define DCPI_CULPRIT_PATH_H

#include "analysis/culprit/culprit_rule.h"

/**
 * struct culprit_path - a way, as far as it has been followed
 * @regs:   what the rule is looking for; the rule's own
 * @count:  likewise
 * @drift:  likewise
 * @cycles: that pass on average between the issue of the instruction now visited and
 *          the stalled one's coming to the head of the queue
 * @share:  of the stalled instruction's executions that come this way
 */
struct culprit_path {
	struct insn_regs regs;
	double count;
	double drift;
	double cycles;
	double share;
};

/** enum culprit_path_end - why a way can't be followed further. */
enum culprit_path_end {
	CULPRIT_PATH_ENTRY,   /* the procedure's entry: the caller is not known */
	CULPRIT_PATH_UNKNOWN, /* missing edges, or too many ways */
	CULPRIT_PATH_FAR,     /* @max_cycles ago */
	CULPRIT_PATH_REPEATS, /* it goes on as it did already: a loop */
};

/**
 * struct culprit_walk - what to do on the way
 * @max_cycles: look no further back
 * @visit: an instruction, the last before those already visited. May change the path's
 *         first members. Return: whether to go on along this way
 * @end:   a way ended that @visit would have gone on with
 */
struct culprit_walk {
	double max_cycles;
	bool (*visit)(void *ctx, struct culprit_path *path, uint32_t insn);
	void (*end)(void *ctx, const struct culprit_path *path, enum culprit_path_end end);
	void *ctx;
};

/**
 * culprit_path_walk() - visit what was executed before the stalled instruction
 * @start: the path's first state; its cycles and share are set here
 *
 * Ways of a negligible share are not followed, nor is any block entered more than
 * twice. Bounded work.
 */
void culprit_path_walk(const struct culprit_stall *stall, const struct culprit_walk *walk,
		       const struct culprit_path *start);

#endif
