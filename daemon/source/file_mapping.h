/* SPDX-License-Identifier: GPL-2.0-only */
/* Which file is mapped at an address of a process: to read code where no probe hides it. */
#ifndef DCPI_FILE_MAPPING_H
#define DCPI_FILE_MAPPING_H

#include <stdint.h>

#define FILE_MAPPING_PATH_BYTES 4096

/**
 * struct file_mapping - [@start, @end) is the file from @offset on; @path leads to it from here,
 * by the process' root
 */
struct file_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	char path[FILE_MAPPING_PATH_BYTES];
};

/**
 * file_mapping_find() - executable ones
 *
 * Files that were replaced are not found by their names, nor are those without one.
 *
 * Return: 0; -EINVAL no file's code is there; else as process_scan().
 */
int file_mapping_find(struct file_mapping *ret, uint32_t pid, uint64_t address);

#endif
