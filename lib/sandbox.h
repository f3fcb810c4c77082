/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that parses files of other users gives up all rights that parsing does not need.
 *
 * After sandbox_enter() the process has the descriptors that it had before, memory, threads and
 * its standard streams. It cannot open, create, rename or execute a file, make a socket, start or
 * signal another process, trace one, map code, or push input into its terminal. Other files reach
 * it as descriptors from its parent (lib/broker.h).
 */
#ifndef DCPI_SANDBOX_H
#define DCPI_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

struct error;

/**
 * struct sandbox_limits - limits of a process
 * @memory_bytes: private memory
 * @files:        open descriptors
 * @cpu_seconds:  CPU time, at which the process gets SIGXCPU; 0: unlimited
 */
struct sandbox_limits {
	uint64_t memory_bytes;
	unsigned int files;
	unsigned int cpu_seconds;
};

/** sandbox_limits_default() - return half of the machine's memory, at least 512 MiB; 256 files. */
struct sandbox_limits sandbox_limits_default(void);

/**
 * sandbox_enter() - give up privileges permanently
 *
 * These steps, in this order:
 *  1. resource limits; limits that are lower already stay
 *  2. if the caller is root: an empty root directory, user and group "nobody"
 *  3. no capabilities, no core dumps, no tracing by other processes
 *  4. SIGKILL when the parent ends, and no_new_privs
 *  5. a seccomp filter; calls that it does not allow fail with EPERM
 *
 * Return: 0; -errno with @err set: there is no filter, because the kernel or an outer sandbox
 * does not allow one. All other steps are in effect nevertheless.
 * Context: before the process starts threads.
 */
int sandbox_enter(const struct sandbox_limits *limits, struct error *err);

/** sandbox_close_from() - close all descriptors from @first on, before sandbox_enter() */
void sandbox_close_from(int first);

/**
 * sandbox_check() - run a check of untrusted data in a separate process
 * @check: runs in the sandbox; the process ends with it, or after at most @seconds of CPU time
 *
 * Return: the result of @check; false also if @check crashed or did not end, or no process could be
 * started.
 */
bool sandbox_check(bool (*check)(void *context), void *context, unsigned int seconds);

#endif
