/* SPDX-License-Identifier: GPL-2.0-only */
/* The mappings of a process, line by line. */
#ifndef DCPI_PROCESS_MAPS_H
#define DCPI_PROCESS_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * process_maps_open() - open /proc/PID/maps
 *
 * The file is empty if the process's first thread has ended before the others. In that case the
 * file of another thread is opened, which shares the memory. The file is also empty for kernel
 * threads and processes that have ended.
 *
 * @thread: out: the thread whose file was opened; may be NULL
 *
 * Return: to be closed by the caller; NULL: no file can be opened, errno is set.
 */
FILE *process_maps_open(uint32_t pid, uint32_t *thread);

/**
 * struct process_mapping - the contents of a line
 * @offset:      into the file
 * @permissions: "rwxp", with '-' for each permission that is missing ('s': shared); not terminated
 * @path:        "" if the mapping has none; as the kernel writes it, to the end of the line
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
 * process_maps_take() - parse a line; much faster than scanf(), which would dominate the time
 *
 * Return: true if the line describes a mapping of at least one byte. The strings point into the
 * line.
 */
bool process_maps_take(struct process_mapping *ret, const char *line);

#endif
