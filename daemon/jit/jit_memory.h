/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads code from the memory of a process, if only its addresses and names are known (perf maps).
 *
 * Only executable memory is read, so that a forged map cannot make the daemon store data. Needs the
 * same permission as ptrace(2).
 */
#ifndef DCPI_JIT_MEMORY_H
#define DCPI_JIT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/**
 * jit_memory_read() - copy executable memory
 * @since_ns: CLOCK_MONOTONIC: the process existed at this time; otherwise its id has a new owner
 *
 * Return: 0; -ESRCH: the process is gone; -EFAULT: not all of the range is executable; -EPERM.
 */
int jit_memory_read(uint32_t pid, uint64_t since_ns, uint64_t start, void *buffer, size_t bytes);

#endif
