/* SPDX-License-Identifier: GPL-2.0-only */
/* What windows of probes tell (branch_probes.h), to be taken later. */
#ifndef DCPI_PROBE_RESULTS_H
#define DCPI_PROBE_RESULTS_H

#include "daemon/source/branch_known.h"
#include "daemon/source/branch_probe.h"

/* Of some tens of windows, up to 160 each. */
#define PROBE_RESULTS_MAX 8192

/**
 * struct branch_probe_result - what a probe has counted
 * @event:   SOURCE_EVENT_: what of: see db/profile.h
 * @count:   never 0
 * @time_ns: when it was there, CLOCK_MONOTONIC
 *
 * Of what is probed together one branch is compared with each of the others, both ways.
 */
struct branch_probe_result {
	uint32_t pid;
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
 * @taken_ns: of that, what probes took
 */
struct probe_window {
	const struct branch_probe *some;
	const struct branch_window *windows;
	size_t count;
	uint64_t start_ns;
	uint64_t ns;
	uint64_t taken_ns;
};

/** probe_results_add() - all that a window tells; @known is told as well */
void probe_results_add(struct probe_results *results, struct branch_known *known,
		       const struct probe_window *window);

/** branch_window_executions() - how often a branch was executed in a window */
uint64_t branch_window_executions(const struct branch_window *window);

#endif
