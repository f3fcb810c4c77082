/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process has mapped, line by line. */
#ifndef DCPI_PROCESS_MAPS_H
#define DCPI_PROCESS_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * process_maps_open() - /proc/PID/maps, from its beginning
 *
 * It is empty where a process's first thread has ended before the others: then one of theirs
 * is opened, which have the same memory. Kernel threads and processes that have ended have an
 * empty one.
 *
 * @thread: out: whose it is; NULL: not asked
 *
 * Return: to be closed by the caller; NULL: none can be opened, errno says why.
 */
FILE *process_maps_open(uint32_t pid, uint32_t *thread);

/**
 * struct process_mapping - what a line says
 * @offset: into the file
 * @permissions: "rwxp", a '-' for each that is not given ('s': shared); not terminated
 * @path:   "" where there is none; as the kernel writes it, to the end of the line
 */
struct process_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t device;
	uint64_t inode;
	const char *permissions;
	const char *path;
};

/**
 * process_maps_take() - read a line, by hand: scanf() takes most of the time of reading a file
 *
 * Return: whether it is one, of one byte at least. The strings stay in it.
 */
bool process_maps_take(struct process_mapping *ret, const char *line);

#endif
