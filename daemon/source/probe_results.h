/* SPDX-License-Identifier: GPL-2.0-only */
/* What windows of probes tell (branch_probes.h), to be taken later. */
#ifndef DCPI_PROBE_RESULTS_H
#define DCPI_PROBE_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/branch_known.h"
#include "daemon/source/branch_probe.h"

/* Of some tens of windows, up to 160 each. */
#define PROBE_RESULTS_MAX 8192

/**
 * struct branch_probe_result - what a probe has counted
 * @event:   SOURCE_EVENT_: what of: see db/profile.h
 * @generation: the process' exec count; 0: not known
 * @count:   never 0
 * @time_ns: when it was there, CLOCK_MONOTONIC
 *
 * Of what is probed together one branch is compared with each of the others, both ways; the mark
 * with each, too.
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

/** struct probe_results - @lost: those that there was no room for */
struct probe_results {
	uint32_t count;
	uint64_t lost;
	struct branch_probe_result item[PROBE_RESULTS_MAX];
};

/**
 * struct probe_window - some branches were probed together for a while
 * @some, @windows: which, and what the program counted; @count: > 0, all of a process
 * @start_ns: when all probes had come, CLOCK_MONOTONIC
 * @ns:       how long they were there
 * @round:    if the last one is a mark: what was executed from its first execution to its last;
 *            NULL: there is none
 * @taken_ns: of that, what probes took
 * @is_look:  of branches that may hardly run, and that no sample led to. If they do run the
 *            program has come there only now: that is how code begins, and not how it is
 */
struct probe_window {
	const struct branch_probe *some;
	const struct branch_window *windows;
	size_t count;
	uint64_t start_ns;
	uint64_t ns;
	const struct branch_round *round;
	uint64_t taken_ns;
	bool is_look;
};

/** probe_results_add() - all that a window tells; @known is told as well */
void probe_results_add(struct probe_results *results, struct branch_known *known,
		       const struct probe_window *window);

/** probe_window_is_long() - probes took little of it: the program went on through whatever came */
bool probe_window_is_long(const struct probe_window *window);

/** probe_window_is_quiet() - probes took hardly any: nothing was in the way of the seldom */
bool probe_window_is_quiet(const struct probe_window *window);

/** probe_window_is_mark() - whether rounds begin and end at a branch */
static inline bool probe_window_is_mark(const struct probe_window *window, size_t i)
{
	return window->round != NULL && i == window->count - 1;
}

/** probe_window_rounds() - how many rounds there were from branch @i's view; of a mark: all */
uint64_t probe_window_rounds(const struct probe_window *window, size_t i);

/**
 * probe_window_gaps_ns() - how long the program itself took from a branch's first execution to
 * the last
 *
 * If the window shows what is usual: of what is executed in bursts it would be what a burst is, or
 * what is between two.
 *
 * Return: 0: it does not.
 */
uint64_t probe_window_gaps_ns(const struct probe_window *window, size_t i);

/** probe_window_most() - which branch was executed most often */
size_t probe_window_most(const struct probe_window *window);

/** branch_window_executions() - how often a branch was executed in a window */
uint64_t branch_window_executions(const struct branch_window *window);

#endif
