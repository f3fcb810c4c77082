/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reference branches: branches that a program executes repeatedly at regular times. Other branches
 * are counted relative to them.
 *
 * The number of executions of a frequent branch from one execution of a reference branch to the
 * next (a reference iteration) depends neither on the slowdown by probes nor on where a measured
 * interval begins. So it shows what intervals of milliseconds cannot: the trip count of a loop of,
 * say, ten thousand iterations. An interval takes as long as all these executions take with probes.
 *
 * Not thread-safe.
 */
#ifndef DCPI_REFERENCE_BRANCHES_H
#define DCPI_REFERENCE_BRANCHES_H

#include "daemon/source/branch_history.h"
#include "daemon/source/probe_results.h"

/* Maximum number, for all processes. */
#define REFERENCE_BRANCHES_MAX 32

/**
 * struct reference_branch - a (possible) reference branch; fields are private
 * @checks:    number of checks in which it was regular; the next check is at @check_ns,
 *            CLOCK_MONOTONIC, which is @wait_ns after the last
 * @failures: number of checks in which it was not: it belongs to one phase of the program
 */
struct reference_branch {
	struct branch_probe probe;
	uint64_t period_ns;
	uint64_t check_ns;
	uint64_t wait_ns;
	uint32_t checks;
	uint32_t failures;
};

/**
 * struct reference_branches - zero-initialised is empty; fields are private
 * @counts:   by branch and by process, samples that led there, and intervals with a reference
 *            branch
 * @branches: the reference branches
 * @count:    of @branches
 */
struct reference_branches {
	struct u64_map counts;
	struct reference_branch branches[REFERENCE_BRANCHES_MAX];
	uint32_t count;
};

void reference_branches_deinit(struct reference_branches *references);

/** reference_branches_add_sample() - record that a sample of a process leads to this branch */
void reference_branches_add_sample(struct reference_branches *references, uint32_t pid,
				   uint64_t address);

/**
 * reference_branches_cost() - estimate the executions of a branch in @ns of its program's own time
 *
 * The estimate is derived from samples: intervals of frequent branches are full of executions, and
 * do not show how long the program would take without probes.
 */
double reference_branches_cost(const struct reference_branches *references, uint32_t pid,
			       uint64_t address, uint64_t ns);

/**
 * reference_branches_find() - find a reference branch for a branch; less likely the more often it
 * was measured
 * @history:  source of randomness
 * @cost_max: approximate maximum number of executions per reference iteration
 *
 * Return: NULL if its file has no reference branch with sufficiently short iterations; valid until
 * the next call.
 */
const struct reference_branch *reference_branches_find(const struct reference_branches *references,
						       struct branch_history *history,
						       const struct branch_probe *probe,
						       double cost_max);

/**
 * reference_branches_to_check() - return a possible reference branch that is to be checked: is it
 * still regular?
 *
 * Return: NULL if there is none; valid until the next call.
 */
const struct branch_probe *reference_branches_to_check(const struct reference_branches *references,
						       uint64_t now_ns);

/**
 * reference_branches_remove() - a branch cannot be probed any more: remove it from the reference
 * branches
 */
void reference_branches_remove(struct reference_branches *references,
			       const struct branch_probe *probe);

/**
 * reference_branches_learn() - find possible reference branches in a measured interval
 *
 * These are branches that were executed at regular times in nearly all intervals, over some time.
 */
void reference_branches_learn(struct reference_branches *references, struct branch_history *history,
			      const struct probe_window *window);

#endif
