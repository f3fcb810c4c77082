/* SPDX-License-Identifier: GPL-2.0-only */
/* Read a part of a file that other processes may change meanwhile, and hence is never mapped. */
#ifndef DCPI_FILE_READ_H
#define DCPI_FILE_READ_H

#include <stddef.h>
#include <stdint.h>

/**
 * file_read_exactly() - read @bytes bytes at @offset, in spite of interruptions
 *
 * Return: 0; -EIO the file ends before that; errors of pread(2).
 */
int file_read_exactly(int fd, void *buffer, size_t bytes, uint64_t offset);

#endif
