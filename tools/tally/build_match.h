/* SPDX-License-Identifier: GPL-2.0-only */
/* Matches rows of tallies whose images are builds of one program, by comparing the code. */
#ifndef DCPI_BUILD_MATCH_H
#define DCPI_BUILD_MATCH_H

#include "tools/tally/tally.h"

/**
 * struct build_row - a row, and where the code of its image may be found
 * @row:  of a procedure or an instruction; its file is the program's, as set by program_match()
 * @file: its own image
 * @set:  the first set in which it has samples
 */
struct build_row {
	struct tally_row *row;
	const struct profile_image *file;
	const struct debug_file_options *debug;
	size_t set;
};

/**
 * struct build_names - new names of rows; freed by build_names_deinit()
 * @demangle: use names as in the source, not as linkers use
 */
struct build_names {
	bool demangle;
	char **list;
	size_t count;
	size_t capacity;
};

void build_names_deinit(struct build_names *names);

/**
 * build_match() - give rows of later builds their places in the first build
 * @rows:         sorted by this function
 * @instructions: rows are instructions, not procedures
 * @names:        receives names of procedures that were renamed
 *
 * Images with the same path are builds of one program; the first build is that of the first set.
 * Rows found in the first build (analysis/image/code_match.h) get its identity, address, offset,
 * and the name of the procedure. If the code of one of the builds is unknown or has no decoder,
 * procedures match by name, provided that the name is unique in the first build. Other rows are
 * unchanged.
 *
 * Return: 0 or -ENOMEM.
 */
int build_match(struct build_row *rows, size_t count, bool instructions, struct build_names *names);

#endif
