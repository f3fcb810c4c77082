/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data that the BPF programs of off-CPU time (off_cpu.bpf.c) share with their reader
 * (daemon/source/off_cpu.c).
 *
 * An interval begins when a thread leaves its CPU, and ends when the thread is on a CPU again. An
 * interval shorter than the threshold is recorded with a probability of its length divided by the
 * threshold, and then stands for as much time as the threshold. So the expected value of the sum is
 * the time of all intervals, and the number of records has a bound.
 */
#ifndef DCPI_BPF_OFF_CPU_H
#define DCPI_BPF_OFF_CPU_H

#include "daemon/source/bpf/stack_copy.h"

/** enum off_cpu_state - why a thread was not running; in the order of enum profile_off_cpu_state */
enum off_cpu_state {
	OFF_CPU_RUNNABLE, /* It waited for a CPU. */
	OFF_CPU_SLEEP,	  /* An interruptible sleep, or stopped. */
	OFF_CPU_IO,	  /* The kernel counts it as a wait for I/O. */
	OFF_CPU_LOCK,	  /* A sleep in the system call futex. */
	OFF_CPU_BLOCKED,  /* Another uninterruptible sleep: a lock or an event of the kernel. */
	OFF_CPU_STATES
};

/**
 * struct off_cpu_thread - state of a thread in the kernel
 * @since_ns: CLOCK_MONOTONIC: begin of the time that is not recorded; 0: it is on a CPU
 * @delay_ns: time that it had waited for a CPU since it started, at @since_ns
 * @state:    enum off_cpu_state
 * @round:    value of off_cpu_round at @since_ns
 */
struct off_cpu_thread {
	__u64 since_ns;
	__u64 delay_ns;
	__u32 state;
	__u32 round;
};

/**
 * struct off_cpu_record - a record of the ring buffer
 * @length_ns: of the interval; @time_ns of the copy is its end
 * @ready_ns:  part of it in which the thread waited for a CPU
 * @sample_ns: time that the record stands for, at least @length_ns
 * @state:     of the rest: enum off_cpu_state
 * @sleeps:    the interval goes on
 * @copy:      of the stack, see there
 */
struct off_cpu_record {
	__u64 length_ns;
	__u64 ready_ns;
	__u64 sample_ns;
	__u32 state;
	__u32 sleeps;
	struct stack_copy_record copy;
};

/** enum off_cpu_step - action of the iterator on a thread that is not on a CPU */
enum off_cpu_step {
	OFF_CPU_BEGIN,	/* Its time counts from now on. */
	OFF_CPU_RECORD, /* Record its time so far. */
};

/**
 * struct off_cpu_counts - counts of a CPU
 * @intervals: that ended; @below: of these, not recorded because they are short
 * @lost:      records for which the ring buffer had no room, or whose stack could not be copied
 *             after the switch; @lost_ns: time that they stand for
 * @untracked: threads that are not measured because the kernel had no memory
 * @spent_ns:  time of the programs, estimated from one run in OFF_CPU_MEASURED except for records
 */
struct off_cpu_counts {
	__u64 intervals;
	__u64 below;
	__u64 lost;
	__u64 lost_ns;
	__u64 untracked;
	__u64 spent_ns;
	__u64 switches;
};

#define OFF_CPU_MEASURED 64

#endif
