/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that parses files of other users gives up what parsing does not need.
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

/** struct sandbox_limits - @memory_bytes: of private memory; @files: open descriptors */
struct sandbox_limits {
	uint64_t memory_bytes;
	unsigned int files;
};

/** sandbox_limits_default() - half of the machine's memory, at least 512 MiB; 256 files. */
struct sandbox_limits sandbox_limits_default(void);

/**
 * sandbox_enter() - give up privileges, for good
 *
 * These steps, in this order:
 *  1. resource limits; limits that are lower already stay
 *  2. if the caller is root: an empty root directory, user and group "nobody"
 *  3. no capabilities, no core dumps, no tracing by other processes
 *  4. SIGKILL when the parent ends, and no_new_privs
 *  5. a seccomp filter; calls that it does not allow fail with EPERM
 *
 * Return: 0; -errno with @err set: there is no filter, because the kernel or an outer sandbox
 * does not allow one. Everything else is in effect also then.
 * Context: before the process starts threads.
 */
int sandbox_enter(const struct sandbox_limits *limits, struct error *err);

/**
 * sandbox_check() - ask a question about untrusted data in a process of its own
 * @check: runs in the sandbox; the process ends with it, and after @seconds of CPU time at most
 *
 * Return: what @check returned; false also if it crashed or did not end, or no process could be
 * started.
 */
bool sandbox_check(bool (*check)(void *context), void *context, unsigned int seconds);

#endif
