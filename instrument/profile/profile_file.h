/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that a rewritten program records in (profile_layout.h). It may be read while the program
 * runs. Its contents are not trusted.
 */
#ifndef DCPI_INSTRUMENT_PROFILE_FILE_H
#define DCPI_INSTRUMENT_PROFILE_FILE_H

#include "instrument/profile/profile_layout.h"

#include <stddef.h>

struct error;

/**
 * struct profile_file - an open file
 * @fd:     the caller may use it for fstat(2)
 * @blocks: number of used blocks in the file
 */
struct profile_file {
	int fd;
	uint64_t blocks;
	struct profile_layout_header header;
};

/**
 * profile_file_open() - open a file
 * @ret:   out; closed by profile_file_close()
 * @image: number of the rewritten file
 * @words: number of words that a block must have
 *
 * Return: 0; -EBADMSG not such a file, or damaged; -ESTALE from another image, or another rewriting
 * of it; errors of open(2) and read(2).
 */
int profile_file_open(struct profile_file *ret, const char *path, uint64_t image, uint64_t words,
		      struct error *err);

void profile_file_close(struct profile_file *file);

/**
 * profile_file_read() - read from a block
 * @at: offset in the block; data after its end cannot be read
 *
 * Return: 0; -EBADMSG; errors of read(2).
 */
int profile_file_read(const struct profile_file *file, uint64_t block, uint64_t at, void *buffer,
		      size_t bytes);

/**
 * profile_file_hole() - return the size of a hole in the file, which is all zero
 *
 * Return: bytes, at most up to the block's end; 0 also if it cannot be determined.
 */
uint64_t profile_file_hole(const struct profile_file *file, uint64_t block, uint64_t at);

#endif
