/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of tallies whose images are builds of one program: what was what, by its code. */
#ifndef DCPI_BUILD_MATCH_H
#define DCPI_BUILD_MATCH_H

#include "tools/tally/tally.h"

/**
 * struct build_row - a row, and where its image's code may be
 * @row: of a procedure or an instruction; its file is the program's, as program_match() has it
 * @file: its own image
 * @set: the first one in which it has samples
 */
struct build_row {
	struct tally_row *row;
	const struct profile_image *file;
	const struct debug_file_options *debug;
	size_t set;
};

/**
 * struct build_names - names that rows were given; freed by build_names_deinit()
 * @demangle: names as the source has them, not as linkers do
 */
struct build_names {
	bool demangle;
	char **list;
	size_t count;
	size_t capacity;
};

void build_names_deinit(struct build_names *names);

/**
 * build_match() - give rows of later builds the places they had in the first one
 * @rows:  sorted here
 * @instructions: rows are
 * @names: of procedures that were called otherwise
 *
 * Images of one path are builds of one program; the first is that of the first set. Rows that are
 * found in the first build (analysis/image/code_match.h) get its identity, address, offset, and the
 * name of the procedure. Where the code of one of the builds is unknown or has no decoder,
 * procedures are the same if they have the same name, and the first build has one of that name.
 * Others stay as they are.
 *
 * Return: 0 or -ENOMEM.
 */
int build_match(struct build_row *rows, size_t count, bool instructions, struct build_names *names);

#endif
