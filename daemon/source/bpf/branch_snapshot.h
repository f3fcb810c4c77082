/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the BPF program that keeps what a sample's next branches depend on
 * (branch_snapshot.bpf.c) shares with its reader (daemon/source/branch_snapshots.c): the
 * registers, and the memory that they point to, as they were when the program was
 * interrupted.
 *
 * The kernel can't know which memory the branches depend on; most of it is near what
 * some register points to: the stack, an object, an element of an array.
 */
#ifndef DCPI_BPF_BRANCH_SNAPSHOT_H
#define DCPI_BPF_BRANCH_SNAPSHOT_H

#include <linux/types.h>

/* Aligned, so that no piece is in two pages. */
#define SNAPSHOT_PIECE_BYTES 128
#define SNAPSHOT_REGISTERS 32
/* Two for each register, and more of the stack. */
#define SNAPSHOT_STACK_PIECES 4
#if defined(__TARGET_ARCH_x86) || defined(__x86_64__)
#define SNAPSHOT_PIECES (2 * 17 + SNAPSHOT_STACK_PIECES)
#else
#define SNAPSHOT_PIECES (2 * 32 + SNAPSHOT_STACK_PIECES)
#endif
/* What is below a pointer is looked at less often than what is above it. */
#define SNAPSHOT_BELOW 32

/* Links of probes that there may be at a time, and branches in each. */
#define BRANCH_LINKS 8
#define BRANCH_WINDOWS 16
/* A window's condition that is none: leave snapshots, at most so many. */
#define WINDOW_SNAPSHOTS 16
#define WINDOW_SNAPSHOTS_MAX 64

/**
 * struct branch_window - what a probe of a branch counts (daemon/source/branch_probe.h)
 * @condition: x86-64: of a conditional jump, as it encodes it; or WINDOW_SNAPSHOTS
 * @counts:    of a conditional jump: executions that did not take it, and that did; else
 *             of all in the first
 * @first_ns, @last_ns: when it was executed first and last, CLOCK_MONOTONIC; 0: never
 * @gaps:       from one execution to the next: how many
 * @longest_ns: the longest one
 * @waited_ns:  how long the thread had waited for a CPU in its life, at the last execution;
 *              @waited_first_ns: at the first. No part of @longest_ns
 * @sleeps:     how often the thread had slept in its life, at the first execution
 * @thread:     which one that was
 * @generation: its process' exec count then
 * @mark:       1: rounds begin and end at its executions (struct branch_round)
 * @disturbed:  another thread executed it, too, or the thread slept: gaps tell nothing
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
	__u32 mark;
};

/**
 * struct branch_round - of a link, from one execution of a branch (its mark) to another
 * @first, @last: executions of all its branches when the mark was executed first and last, in
 *                the order of windows
 * @squares:      sums of the squares of what was executed from one to the next
 * @begun, @done: how often these were written; else they are being written
 */
struct branch_round {
	__u64 begun;
	__u64 done;
	__u64 first[BRANCH_WINDOWS];
	__u64 last[BRANCH_WINDOWS];
	__u64 squares[BRANCH_WINDOWS];
};

/** struct branch_piece - memory; @address 0: none */
struct branch_piece {
	__u64 address;
	__u8 bytes[SNAPSHOT_PIECE_BYTES];
};

/**
 * struct branch_snapshot - of a sample of 64-bit user code, or of a probe there
 * @pid:     process
 * @cpu:     where it was
 * @probe:   1: a probe at @pc was reached (struct branch_window); 0: a sample
 * @generation: the process' exec count
 * @time_ns: CLOCK_MONOTONIC
 * @registers: in the order of struct interpret_state; @flags likewise
 * @known:   a mask of @registers
 * @pieces:  of @piece
 */
struct branch_snapshot {
	__u32 pid;
	__u32 cpu;
	__u32 probe;
	__u32 generation;
	__u64 time_ns;
	__u64 pc;
	__u64 flags;
	__u64 registers[SNAPSHOT_REGISTERS];
	__u32 known;
	__u32 pieces;
	struct branch_piece piece[SNAPSHOT_PIECES];
};

#endif
