/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process in a sandbox (lib/sandbox.h) that parses files of other users for its parent.
 *
 * The process is a copy of its parent, without the parent's shared memory, standard streams and
 * descriptors, except a socket and those that it is given. The kernel ends it before its parent if
 * memory runs out.
 */
#ifndef DCPI_SANDBOX_PROCESS_H
#define DCPI_SANDBOX_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SANDBOX_PROCESS_FILES_MAX 4

/**
 * struct sandbox_process_task - the task of a process
 * @name:         of the process, at most 15 characters
 * @run:          the process ends with it; @files: its copies of @files below
 * @memory_bytes: maximum, besides the copy of the parent's memory
 * @descriptors:  maximum number
 * @cpu_seconds:  maximum; 0: unlimited
 * @nice:         lowest nice value
 * @files:        descriptors for the process; they remain the caller's
 */
struct sandbox_process_task {
	const char *name;
	void (*run)(int socket, const int *files, const void *context);
	const void *context;
	uint64_t memory_bytes;
	unsigned int descriptors;
	unsigned int cpu_seconds;
	int nice;
	int files[SANDBOX_PROCESS_FILES_MAX];
	size_t file_count;
};

/**
 * struct sandbox_process - a running process
 * @pid:    0: none
 * @socket: for messages of lib/broker.h; -1: none
 * @open:   the kernel provides no seccomp filter
 */
struct sandbox_process {
	pid_t pid;
	int socket;
	bool open;
};

/**
 * sandbox_process_start() - start a process, and wait until it is in its sandbox
 *
 * Return: 0; -EAGAIN: too many earlier processes do not end; -errno: it could not be started.
 */
int sandbox_process_start(struct sandbox_process *ret, const struct sandbox_process_task *task);

/** sandbox_process_cpu_ns() - return the CPU time of the process; 0: it has been waited for */
uint64_t sandbox_process_cpu_ns(const struct sandbox_process *process);

/**
 * sandbox_process_end() - kill the process, wait for its end, and close the socket
 *
 * A process cannot be killed while it waits for a file system that does not answer. After 0.2 s the
 * wait ends, and the process is waited for at later starts.
 *
 * Return: its status as of waitpid(); -1: there was none, or it has not ended.
 */
int sandbox_process_end(struct sandbox_process *process);

/** sandbox_process_wait() - as sandbox_process_end(), but wait for the process to end itself */
int sandbox_process_wait(struct sandbox_process *process);

#endif
