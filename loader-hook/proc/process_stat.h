/* SPDX-License-Identifier: GPL-2.0-only */
/* State of a process, from /proc/PID/stat and /proc/PID/status. */
#ifndef DCPI_PROCESS_STAT_H
#define DCPI_PROCESS_STAT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct process_stat - state of a process
 * @flags:   the kernel's task flags (PF_*) of its leader
 * @threads: number of threads; 0 after all have ended and been waited for
 * @start:   creation time, in ticks since boot; distinguishes processes that had the same id
 * @bytes:   size of its leader's address space; 0: it has none, or has released it
 */
struct process_stat {
	unsigned long flags;
	unsigned long threads;
	unsigned long long start;
	unsigned long long bytes;
};

/** process_stat_read() - Return: 0; -ESRCH: the process is gone, or may not be inspected */
int process_stat_read(struct process_stat *stat, uint32_t pid);

/**
 * process_is_traced() - return true if a debugger traces the process (ptrace) or this is unknown
 */
bool process_is_traced(uint32_t pid);

#endif
