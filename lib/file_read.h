/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading a part of a file that may be changed under us: never by mapping it. */
#ifndef DCPI_FILE_READ_H
#define DCPI_FILE_READ_H

#include <stddef.h>
#include <stdint.h>

/**
 * file_read_exactly() - read @bytes bytes at @offset, whatever interrupts it
 *
 * Return: 0; -EIO the file ends before; errors of pread(2).
 */
int file_read_exactly(int fd, void *buffer, size_t bytes, uint64_t offset);

#endif
