/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Backward traversal of the paths that lead to a stalled instruction. Internal to culprit*.c.
 */
#ifndef DCPI_CULPRIT_PATH_H
#define DCPI_CULPRIT_PATH_H

#include "analysis/culprit/culprit_rule.h"

/**
 * struct culprit_path - a path, as far as it has been followed
 * @regs:   for the rule's own use
 * @count:  for the rule's own use
 * @drift:  for the rule's own use
 * @cycles: average cycles from the issue of the instruction now visited until the stalled
 *          instruction reaches the head of the queue
 * @share:  of the stalled instruction's executions that follow this path
 */
struct culprit_path {
	struct insn_regs regs;
	double count;
	double drift;
	double cycles;
	double share;
};

/** enum culprit_path_end - reason why a path ends. */
enum culprit_path_end {
	CULPRIT_PATH_ENTRY,   /* the procedure's entry: the caller is unknown */
	CULPRIT_PATH_UNKNOWN, /* missing edges, or too many paths */
	CULPRIT_PATH_FAR,     /* more than @max_cycles ago */
	CULPRIT_PATH_REPEATS, /* it continues into blocks already visited: a loop */
};

/**
 * struct culprit_walk - actions of a traversal
 * @max_cycles: distance at which paths end
 * @visit:      called with the instruction before those already visited. May change the path's
 *              first members. Return: true to continue along this path
 * @end:        called if a path ended that @visit would have continued
 */
struct culprit_walk {
	double max_cycles;
	bool (*visit)(void *ctx, struct culprit_path *path, uint32_t insn);
	void (*end)(void *ctx, const struct culprit_path *path, enum culprit_path_end end);
	void *ctx;
};

/**
 * culprit_path_walk() - visit the instructions executed before the stalled one
 * @start: the path's initial state; its cycles and share are set here
 *
 * Paths with a negligible share are not followed, and no block is entered more than twice. The work
 * is bounded.
 */
void culprit_path_walk(const struct culprit_stall *stall, const struct culprit_walk *walk,
		       const struct culprit_path *start);

#endif
