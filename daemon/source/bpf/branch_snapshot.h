/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data that the BPF program of branch snapshots (branch_snapshot.bpf.c) shares with its reader
 * (daemon/source/branch_snapshots.c): the registers at the interruption, and the memory that they
 * point to. The next branches of the program depend on these values.
 *
 * The kernel cannot know which memory the branches depend on. Most of it is near the target of some
 * register: the stack, an object, an array element.
 */
#ifndef DCPI_BPF_BRANCH_SNAPSHOT_H
#define DCPI_BPF_BRANCH_SNAPSHOT_H

#include <linux/types.h>

#include "kmod/uapi/dcpi_snapshot.h"

/* Two pieces for each register, and more of the stack. */
#define SNAPSHOT_STACK_PIECES 4
#if defined(__TARGET_ARCH_x86) || defined(__x86_64__)
#define SNAPSHOT_PIECES (2 * 17 + SNAPSHOT_STACK_PIECES)
#else
#define SNAPSHOT_PIECES (2 * 32 + SNAPSHOT_STACK_PIECES)
#endif
/* Memory below a pointer is accessed less often than memory above it. */
#define SNAPSHOT_BELOW 32

/* Maximum number of links of probes at a time, and of branches in each. */
#define BRANCH_LINKS 8
#define BRANCH_WINDOWS 16
/* A value of @condition for branches without one: write snapshots, at most WINDOW_SNAPSHOTS_MAX. */
#define WINDOW_SNAPSHOTS 16
#define WINDOW_SNAPSHOTS_MAX 64

/**
 * struct branch_window - counts of the probe of a branch (daemon/source/branch_probe.h)
 * @condition:          x86-64: condition code of a conditional jump, as encoded; or
 *                      WINDOW_SNAPSHOTS
 * @counts:             of a conditional jump: executions not taken, and taken; of other branches:
 *                      all executions, in the first
 * @first_ns, @last_ns: first and last execution, CLOCK_MONOTONIC; 0: never
 * @gaps:               number of times from one execution to the next that were measured
 * @longest_ns:         the longest of these times
 * @waited_ns:          time that the thread had waited for a CPU since it started, at the last
 *                      execution. Not included in @longest_ns
 * @waited_first_ns:    the same at the first execution
 * @sleeps:             number of times that the thread had slept since it started, at the first
 *                      execution
 * @thread:             the thread of the first execution
 * @generation:         exec count of its process at that time
 * @is_reference:       1: this is the reference branch (struct reference_counts)
 * @disturbed:          another thread executed the branch, too, or the thread slept: the times are
 *                      useless
 */
struct branch_window {
	__u64 counts[2];
	__u64 first_ns;
	__u64 last_ns;
	__u64 gaps;
	__u64 longest_ns;
	__u64 waited_first_ns;
	__u64 waited_ns;
	__u64 sleeps;
	__u32 thread;
	__u32 generation;
	__u32 disturbed;
	__u32 condition;
	__u32 is_reference;
};

/**
 * struct reference_counts - counts per reference iteration
 * @first, @last: executions of each branch of the link when the reference branch was first and last
 *                executed, in the order of windows
 * @squares:      sums over iterations of the squares of each branch's executions
 * @begun, @done: number of updates begun and completed; if they differ, an update is in progress
 *
 * A reference iteration lasts from one execution of the reference branch to the next.
 */
struct reference_counts {
	__u64 begun;
	__u64 done;
	__u64 first[BRANCH_WINDOWS];
	__u64 last[BRANCH_WINDOWS];
	__u64 squares[BRANCH_WINDOWS];
};

/** struct branch_snapshot - a snapshot with memory, of 64-bit user code */
struct branch_snapshot {
	struct dcpi_snapshot head;
	struct dcpi_piece piece[SNAPSHOT_PIECES];
};

#endif
