/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own counts of a command that has ended: system calls that read and write, page
 * faults, context switches.
 *
 * They include descendants that their parents waited for, and cost nothing. The analysis derives
 * executions of kernel procedures from them (analysis/kernel_counts.h).
 */
#ifndef DCPI_RUN_COUNTS_H
#define DCPI_RUN_COUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct counter_set;
struct rusage;

/** struct run_counts - zero-initialised: not known; @has_io: @reads and @writes are known */
struct run_counts {
	bool has_io;
	uint64_t reads;
	uint64_t writes;
};

/** run_counts_read() - read the counts of a process that has ended, but was not waited for */
void run_counts_read(struct run_counts *counts, pid_t pid);

/**
 * run_counts_put() - add the counters of group "command"
 * @usage: of the process, as of wait4(2)
 */
void run_counts_put(const struct run_counts *counts, const struct rusage *usage,
		    struct counter_set *to);

#endif
