/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which way do branches go, whatever time they take? Probes (branch_probe.h) at some of
 * them, for windows of a few milliseconds.
 *
 * Directions behind samples of time are biased: samples wait where the program waits, and
 * those of a load that misses are of the iterations that miss. A probe sees one execution
 * like the other. So directions that were seen by probes are kept apart from those behind
 * samples (PROFILE_EDGE_PROBE).
 *
 * While its branches are probed a program does little else than be probed: thousands of
 * executions, which it would have gone through in some ten microseconds. Where it is when a
 * window begins is still up to time, so what goes on for longer than that is still seen in
 * proportion to its time: the longer windows are, the less of the bias is left. And what
 * windows take together is at most a part of one CPU's time (@permille): the longer they
 * are, the fewer. It is shared out among branches by how often samples lead to them and how
 * well they are known already.
 *
 * Threads of their own open and close probes, since that makes them wait; samples and
 * results are its caller's, who is one thread.
 */
#ifndef DCPI_BRANCH_PROBES_H
#define DCPI_BRANCH_PROBES_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/source/branch_probe.h"

struct branch_probes;
struct error;

/**
 * branch_probes_open() - start the threads
 * @ret:        out; freed by branch_probes_close()
 * @program_fd: what runs at probes; stays the caller's
 * @windows:    of that program; stay the caller's
 * @permille:   of a CPU's time, for windows; at least 1
 */
int branch_probes_open(struct branch_probes **ret, int program_fd, struct branch_window *windows,
		       uint32_t permille, struct error *err);

/** branch_probes_close() - remove all probes; may take a tenth of a second. NULL is fine. */
void branch_probes_close(struct branch_probes *probes);

/**
 * branch_probes_offer() - a sample of a process leads to this branch
 *
 * Once for each sample, that is: which branches are probed is chosen from these at random.
 */
void branch_probes_offer(struct branch_probes *probes, uint32_t pid, uint64_t address);

/** branch_probes_seen() - a snapshot of a probe says where its branch went. */
void branch_probes_seen(struct branch_probes *probes, uint32_t pid, uint64_t address, uint64_t to);

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

typedef void (*branch_probes_fn)(void *context, const struct branch_probe_result *result);

/**
 * branch_probes_drain() - take what was counted since the last time
 *
 * What was offered up to now is probed then: together, as far as there is room.
 */
void branch_probes_drain(struct branch_probes *probes, branch_probes_fn visit, void *context);

/**
 * struct branch_probes_stats - since it was opened
 * @opened:    branches that were probed, each time
 * @refused:   those that could not be
 * @window_ns: time in which there were any
 */
struct branch_probes_stats {
	uint64_t opened;
	uint64_t refused;
	uint64_t window_ns;
};

void branch_probes_stats(struct branch_probes *probes, struct branch_probes_stats *stats);

#endif
