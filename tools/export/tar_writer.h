/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes a gzipped tar file (POSIX ustar) without owners and times. */
#ifndef DCPI_TAR_WRITER_H
#define DCPI_TAR_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Largest size that a header can express in octal digits. */
#define TAR_WRITER_BYTES_MAX (((uint64_t)1 << 33) - 1)

struct tar_writer;

/** tar_writer_create() - begin; @file stays the caller's. Return: NULL if out of memory */
struct tar_writer *tar_writer_create(FILE *file);

/**
 * tar_writer_add() - add a file from memory
 * @name: relative path of at most 100 bytes
 *
 * Return: 0; -ENAMETOOLONG, -EFBIG: nothing was written; -EIO: the file could not be written.
 */
int tar_writer_add(struct tar_writer *tar, const char *name, const void *data, uint64_t bytes);

/**
 * tar_writer_add_file() - add a file from a descriptor, from its beginning
 * @bytes: its size
 *
 * Return: as tar_writer_add(); -ESTALE: the file became shorter, and the result is useless.
 */
int tar_writer_add_file(struct tar_writer *tar, const char *name, int fd, uint64_t bytes);

/** tar_writer_finish() - end the file, and free. Return: 0 or -EIO */
int tar_writer_finish(struct tar_writer *tar);

/** tar_writer_destroy() - free without ending the file; NULL is permitted */
void tar_writer_destroy(struct tar_writer *tar);

#endif
