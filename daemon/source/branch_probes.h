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
 * While its branches are probed a program does little else than be probed, if they are
 * frequent. Of inner loops a window sees thousands of executions, which would otherwise take
 * some ten microseconds: how these go depends on where it begins, which is as likely here as
 * there by time, for windows come one after the other, and what the program would come to only
 * later is left out. So what is probed together is about as frequent; then windows of branches
 * that are not pass through all of a program's parts, hardly slow it down, and tell how often
 * they are executed. How often inner loops are executed for each execution of these, windows of
 * both tell that last for some of them (branch_rounds.h).
 *
 * What probes take together is at most a part of one CPU's time (@permille). It is shared out
 * among branches by how often samples lead to them and how well they are known already.
 *
 * Threads of their own open and close probes, since that makes them wait; samples and
 * results belong to one thread, the caller's. Each thread has a process that holds its probes, so
 * that the kernel removes them even if all of these are stopped (probe_holder.h).
 */
#ifndef DCPI_BRANCH_PROBES_H
#define DCPI_BRANCH_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/probe_results.h"

struct branch_probes;
struct error;

/**
 * branch_probes_open() - start the threads
 * @ret:        out; freed by branch_probes_close()
 * @program:    what runs at probes; stays the caller's
 * @permille:   of a CPU's time, for windows; at least 1
 */
int branch_probes_open(struct branch_probes **ret, const struct branch_probe_program *program,
		       uint32_t permille, struct error *err);

/** branch_probes_close() - remove all probes; may take a tenth of a second. NULL is fine. */
void branch_probes_close(struct branch_probes *probes);

/**
 * branch_probes_offer() - a sample of a process leads to this branch
 *
 * @place: where in a file it was read: there, and nowhere else, it may be probed
 *
 * Once for each sample, that is: which branches are probed is chosen from these at random.
 */
void branch_probes_offer(struct branch_probes *probes, uint32_t pid, uint64_t address,
			 const struct file_place *place);

/**
 * branch_probes_set_share() - change the share of a CPU's time that windows may take
 * @permille: at most 1000; 0: no window begins until it is changed again
 */
void branch_probes_set_share(struct branch_probes *probes, uint32_t permille);

/** branch_probes_seen() - a snapshot of a probe says where its branch went. */
void branch_probes_seen(struct branch_probes *probes, uint32_t pid, uint64_t address, uint64_t to);

/**
 * branch_probes_take() - what was counted since the last time
 *
 * What was offered up to now is probed then: together, as far as there is room.
 *
 * Return: results of windows that are over; valid until the next call.
 */
const struct probe_results *branch_probes_take(struct branch_probes *probes);

/**
 * branch_probes_is_hit() - report whether a thread was in the trap of a probe
 * @user_pc: its PC in user space
 * @time_ns: when, CLOCK_MONOTONIC; within the last ten seconds
 */
bool branch_probes_is_hit(struct branch_probes *probes, uint32_t pid, uint64_t user_pc,
			  uint64_t time_ns);

/**
 * struct branch_probes_stats - since it was opened
 * @opened:    branches that were probed, each time
 * @refused:   those that could not be
 * @taken_ns: time that executions of their breakpoints cost, from the first until all were gone: an
 *            upper estimate
 * @process_ns: CPU time of the processes that hold them
 * @lost:    of what they told, what was not taken in time
 * @deadlines: windows that ended since the kernel killed the process that held their probes
 *            (probe_holder.h); nothing of them is known
 * @unavailable: 1: there are no probes (any more), since they might not be removed in time
 */
struct branch_probes_stats {
	uint64_t opened;
	uint64_t refused;
	uint64_t taken_ns;
	uint64_t process_ns;
	uint64_t lost;
	uint64_t deadlines;
	uint64_t unavailable;
};

void branch_probes_stats(struct branch_probes *probes, struct branch_probes_stats *stats);

#endif
