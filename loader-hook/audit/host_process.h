/* SPDX-License-Identifier: GPL-2.0-only */
/* Properties of the process in which the library runs. */
#ifndef DCPI_HOST_PROCESS_H
#define DCPI_HOST_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct host_process - read from the initial stack that the kernel made
 * @segments, @segment_count: AT_PHDR, AT_PHNUM: program headers of the program
 * @interpreter: AT_BASE: 0 if the program is static or is the loader itself
 * @page_bytes:  AT_PAGESZ
 * @vdso:        AT_SYSINFO_EHDR, or 0
 * @secure:      AT_SECURE: the program has more privileges than the user that started it
 * @socket:      value of AUDIT_SOCKET_VARIABLE, NULL: not set. Valid until the program begins
 * @audit:       value of LD_AUDIT if it is a single path, else NULL. Valid until the program begins
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

/** host_process_read() - return true if the loader exports the address of the initial stack */
bool host_process_read(struct host_process *host);

/**
 * host_process_program() - read the path of the program, as the kernel names it
 * @path: out: terminated by a NUL; room for @bytes bytes
 *
 * Return: its length; 0 if it cannot be read.
 */
size_t host_process_program(char *path, size_t bytes);

/** host_process_command() - read the name of this thread; "" if it cannot be read */
void host_process_command(char command[16]);

/**
 * host_process_is_filtered() - return true if seccomp may kill this thread for a system call
 *
 * Uses only system calls that the loader has just used itself. True if the state cannot be read.
 */
bool host_process_is_filtered(void);

/** host_process_has_file() - return true if a file of that name exists; has no side effects */
bool host_process_has_file(const char *path);

/** host_process_now_ns() - return CLOCK_MONOTONIC, as the process sees it */
uint64_t host_process_now_ns(void);

#endif
