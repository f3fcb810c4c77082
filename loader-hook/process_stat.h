/* SPDX-License-Identifier: GPL-2.0-only */
/* State of a process from /proc/PID/stat and /proc/PID/status. */
#ifndef DCPI_PROCESS_STAT_H
#define DCPI_PROCESS_STAT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct process_stat - of a process
 * @flags:   the kernel's, of its leader
 * @threads: 0 once they have all ended and been waited for
 * @start:   when it was made, in ticks since boot: tells apart who had a process id
 * @bytes:   of its leader's address space; 0: it has none, or not any more
 */
struct process_stat {
	unsigned long flags;
	unsigned long threads;
	unsigned long long start;
	unsigned long long bytes;
};

/** process_stat_read() - Return: 0; -ESRCH it is gone, or may not be seen. */
int process_stat_read(struct process_stat *stat, uint32_t pid);

/** process_is_traced() - Return: true if a debugger has the process (ptrace), or that is not known.
 */
bool process_is_traced(uint32_t pid);

#endif
