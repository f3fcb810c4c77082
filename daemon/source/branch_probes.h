/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Directions of branches, independent of the time they take: probes (branch_probe.h) at some
 * branches, during measured intervals of a few milliseconds.
 *
 * Directions derived from time samples are biased. Samples occur where the program waits, and
 * samples of a load that misses belong to iterations that miss. A probe sees all executions
 * equally. So directions seen by probes are stored separately from those derived from samples
 * (PROFILE_EDGE_PROBE).
 *
 * While frequent branches are probed, the program spends most of its time in probes. An interval
 * sees thousands of executions of an inner loop, which would otherwise take some 10 us. Their
 * directions depend on where the interval begins. Intervals follow each other, so their starting
 * points are distributed in proportion to time. Code that the program would reach only later is
 * left out. So branches that are probed together have about the same frequency. Intervals of less
 * frequent branches then cover all parts of a program, hardly slow it down, and show how often
 * these branches are executed. The ratio of inner-loop executions to these is measured by intervals
 * with both kinds of branches, which last for several executions of the rarer one
 * (reference_branches.h).
 *
 * All probes together take at most a share of one CPU's time (@permille). It is divided among
 * branches by how often samples lead to them and how often they were observed already.
 *
 * Separate threads open and close probes, since both block; samples and results belong to one
 * thread, the caller's. Each thread has a process that holds its probes, so that the kernel removes
 * the probes even if the threads and these processes are stopped (probe_holder.h).
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
 * @ret:      out; freed by branch_probes_close()
 * @program:  runs at probes; remains the caller's
 * @permille: share of a CPU's time for measured intervals; at least 1
 */
int branch_probes_open(struct branch_probes **ret, const struct branch_probe_program *program,
		       uint32_t permille, struct error *err);

/** branch_probes_close() - remove all probes; may take 100 ms. @probes may be NULL. */
void branch_probes_close(struct branch_probes *probes);

/**
 * branch_probes_add() - add a branch that a sample leads to
 *
 * @place: position in the file from which the branch was read; it may be probed only there
 *
 * Call this exactly once per sample, because the branches to probe are chosen from these at random.
 */
void branch_probes_add(struct branch_probes *probes, uint32_t pid, uint64_t address,
		       const struct file_place *place);

/**
 * branch_probes_set_share() - change the share of a CPU's time for measured intervals
 * @permille: at most 1000; 0: no interval begins until it is changed again
 */
void branch_probes_set_share(struct branch_probes *probes, uint32_t permille);

/** branch_probes_seen() - record the target of a branch, from a snapshot of a probe. */
void branch_probes_seen(struct branch_probes *probes, uint32_t pid, uint64_t address, uint64_t to);

/**
 * branch_probes_take() - return the results since the previous call
 *
 * Branches queued so far are now probed, together where possible.
 *
 * Return: results of completed intervals; valid until the next call.
 */
const struct probe_results *branch_probes_take(struct branch_probes *probes);

/**
 * branch_probes_is_hit() - return true if a thread was in the trap of a probe
 * @user_pc: its PC in user space
 * @time_ns: when, CLOCK_MONOTONIC; within the last ten seconds
 */
bool branch_probes_is_hit(struct branch_probes *probes, uint32_t pid, uint64_t user_pc,
			  uint64_t time_ns);

/**
 * struct branch_probes_stats - cumulative counts since branch_probes_open()
 * @opened:      branches probed, in all intervals
 * @refused:     branches that could not be probed
 * @taken_ns:    cost of executions of breakpoints, from the first until all were gone: an upper
 *               bound
 * @process_ns:  CPU time of the processes that hold the probes
 * @lost:        results that were dropped because they were not taken in time
 * @deadlines:   intervals that ended because the kernel killed the process that held their probes
 *               (probe_holder.h); they have no results
 * @unavailable: 1: probing has ended, since probes might not be removed in time
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
