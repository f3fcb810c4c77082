/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds out if a process has ended when no event reported its exit. */
#ifndef DCPI_PROCESS_GONE_H
#define DCPI_PROCESS_GONE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * process_is_gone() - return true if a process has ended
 *
 * True also for a process that its parent has not waited for. False if only the leader thread has
 * ended, for kernel threads, and for processes that this user may not inspect.
 */
bool process_is_gone(uint32_t pid);

#endif
