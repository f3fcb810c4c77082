/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that a rewritten program records in (profile_layout.h). It may be read while the
 * program runs. What is in it may come from anywhere.
 */
#ifndef DCPI_INSTRUMENT_PROFILE_FILE_H
#define DCPI_INSTRUMENT_PROFILE_FILE_H

#include "instrument/profile/profile_layout.h"

#include <stddef.h>

struct error;

/**
 * struct profile_file - an open file
 * @fd:     the caller may look at its status
 * @blocks: that it has, of those that were used
 */
struct profile_file {
	int fd;
	uint64_t blocks;
	struct profile_layout_header header;
};

/**
 * profile_file_open() - open one
 * @ret:   out; closed by profile_file_close()
 * @image: number of the rewritten file
 * @words: that a block must have
 *
 * Return: 0; -EBADMSG it is no such file, or damaged; -ESTALE of another image, or of
 * another rewriting of it; errors of open(2) and read(2).
 */
int profile_file_open(struct profile_file *ret, const char *path, uint64_t image, uint64_t words,
		      struct error *err);

void profile_file_close(struct profile_file *file);

/**
 * profile_file_read() - read from a block
 * @at: offset in it; what lies behind its end cannot be read
 *
 * Return: 0; -EBADMSG; errors of read(2).
 */
int profile_file_read(const struct profile_file *file, uint64_t block, uint64_t at, void *buffer,
		      size_t bytes);

/**
 * profile_file_hole() - how many bytes from there on the file has no data of, all zero
 *
 * Return: up to the block's end at the most; 0 also if it cannot be told.
 */
uint64_t profile_file_hole(const struct profile_file *file, uint64_t block, uint64_t at);

#endif
