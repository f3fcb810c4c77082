// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/proc/process_gone.h"

#include <errno.h>
#include <signal.h>

#include "loader-hook/proc/process_stat.h"

/* PF_KTHREAD of include/linux/sched.h */
#define IS_KERNEL_THREAD 0x00200000UL

bool process_is_gone(uint32_t pid)
{
	struct process_stat stat;

	if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		return true;
	/* An exiting process loses its memory before it becomes a zombie. */
	return process_stat_read(&stat, pid) == 0 && stat.bytes == 0 && stat.threads <= 1 &&
	       (stat.flags & IS_KERNEL_THREAD) == 0;
}
