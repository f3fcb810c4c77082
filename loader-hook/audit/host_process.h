/* SPDX-License-Identifier: GPL-2.0-only */
/* What the library must know of the process that it is a guest of. */
#ifndef DCPI_HOST_PROCESS_H
#define DCPI_HOST_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct host_process - from the stack, as the kernel left it
 * @segments:      AT_PHDR, @segment_count: AT_PHNUM: of the program
 * @interpreter:   AT_BASE: 0 if the program is static, or the loader itself
 * @page_bytes:    AT_PAGESZ
 * @vdso:          AT_SYSINFO_EHDR, or 0
 * @secure:        AT_SECURE: more privileges than who started it
 * @socket:        value of AUDIT_SOCKET_VARIABLE, NULL: not set. Valid until the program begins
 * @audit:         of LD_AUDIT, if that is one path; likewise
 */
struct host_process {
	uintptr_t segments;
	size_t segment_count;
	uintptr_t interpreter;
	uintptr_t page_bytes;
	uintptr_t vdso;
	bool secure;
	const char *socket;
	const char *audit;
};

/** host_process_read() - Return: whether the loader tells where the stack is. */
bool host_process_read(struct host_process *host);

/**
 * host_process_program() - path of the program, as the kernel calls it
 * @path: @bytes of room; ends in NUL
 *
 * Return: its length; 0 if it cannot be told.
 */
size_t host_process_program(char *path, size_t bytes);

/** host_process_command() - the name of this thread; "" if it cannot be told */
void host_process_command(char command[16]);

/**
 * host_process_is_filtered() - whether seccomp may kill this thread for a system call
 *
 * Makes only such calls as the loader has just made itself. True if it cannot be told.
 */
bool host_process_is_filtered(void);

/** host_process_has_file() - whether there is a file by that name; leaves no trace. */
bool host_process_has_file(const char *path);

/** host_process_now_ns() - CLOCK_MONOTONIC of the process. */
uint64_t host_process_now_ns(void);

#endif
