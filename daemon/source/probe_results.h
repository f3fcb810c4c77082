/* SPDX-License-Identifier: GPL-2.0-only */
/* Results of measured intervals (branch_probes.h), to be taken later. */
#ifndef DCPI_PROBE_RESULTS_H
#define DCPI_PROBE_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/branch_history.h"
#include "daemon/source/branch_probe.h"

/* Room for some tens of intervals, with up to 160 results each. */
#define PROBE_RESULTS_MAX 8192

/**
 * struct branch_probe_result - a count of a probe
 * @event:      kind of count, SOURCE_EVENT_*: see db/profile.h
 * @generation: exec count of the process; 0: unknown
 * @count:      never 0
 * @time_ns:    time of the interval, CLOCK_MONOTONIC
 *
 * Among branches that are probed together, the most frequent one is compared with each of the
 * others, in both directions; so is the reference branch.
 */
struct branch_probe_result {
	uint32_t pid;
	uint32_t generation;
	uint32_t event;
	uint64_t from;
	uint64_t to;
	uint64_t count;
	uint64_t time_ns;
};

/** struct probe_results - @lost: number of results that did not fit */
struct probe_results {
	uint32_t count;
	uint64_t lost;
	struct branch_probe_result item[PROBE_RESULTS_MAX];
};

/**
 * struct probe_window - a measured interval, in which some branches were probed together
 * @probes:   the branches
 * @windows:  the counts of the program
 * @count:    number of branches, > 0, all of one process
 * @start_ns: when all probes were in place, CLOCK_MONOTONIC
 * @ns:       its length
 * @reference: counts of reference iterations; NULL: the last branch is no reference branch
 * @taken_ns: part of @ns that probes took
 * @may_be_rare: the branches may be rare, and no sample led to them. If they are executed, the
 *            program has just reached them; the start of such code is not typical of it
 */
struct probe_window {
	const struct branch_probe *probes;
	const struct branch_window *windows;
	size_t count;
	uint64_t start_ns;
	uint64_t ns;
	const struct reference_counts *reference;
	uint64_t taken_ns;
	bool may_be_rare;
};

/** probe_results_add() - add all results of an interval, and update @history */
void probe_results_add(struct probe_results *results, struct branch_history *history,
		       const struct probe_window *window);

/**
 * probe_window_is_long() - return true if probes took at most half of an interval: the program made
 * progress
 */
bool probe_window_is_long(const struct probe_window *window);

/**
 * probe_window_is_quiet() - return true if probes took almost none of an interval: none delayed
 * rare branches
 */
bool probe_window_is_quiet(const struct probe_window *window);

/** probe_window_is_reference() - return true if the branch is the reference branch */
static inline bool probe_window_is_reference(const struct probe_window *window, size_t i)
{
	return window->reference != NULL && i == window->count - 1;
}

/**
 * probe_window_iteration_executions() - return the executions of branch @i in complete reference
 * iterations
 *
 * For the reference branch this is the number of iterations.
 */
uint64_t probe_window_iteration_executions(const struct probe_window *window, size_t i);

/**
 * probe_window_gaps_ns() - return the program's own time from a branch's first execution to its
 * last
 *
 * The result is valid only if the interval is typical. For a branch that is executed in bursts, it
 * would show either the time within a burst or between two.
 *
 * Return: 0: the interval is not typical.
 */
uint64_t probe_window_gaps_ns(const struct probe_window *window, size_t i);

/** probe_window_most() - return the index of the branch with the most executions */
size_t probe_window_most(const struct probe_window *window);

/** branch_window_executions() - return the number of executions of a branch in an interval */
uint64_t branch_window_executions(const struct branch_window *window);

#endif
