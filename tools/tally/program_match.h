/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds images of tallies that are the same program at different paths. */
#ifndef DCPI_PROGRAM_MATCH_H
#define DCPI_PROGRAM_MATCH_H

#include "tools/tally/build_match.h"

/** struct program_alias - @path is treated as @program; the tallies own both strings */
struct program_alias {
	const char *path;
	const char *program;
};

/** struct program_match - paths that were matched by the file name only */
struct program_match {
	struct program_alias *list;
	size_t count;
	size_t capacity;
};

/**
 * program_match() - give rows the image of their program
 * @ret:  out; free(@list) afterwards, also after a failure
 * @rows: sorted by this function; @row->file becomes that of the program's image in the first set
 *        that has it
 * @sets: of @row->counts
 *
 * Images with the same path are the same program. So are images with the same identity at any path,
 * and files with the same name in a directory that differs between sets: /tmp/before/prog and
 * /tmp/after/prog.
 *
 * Files are not matched by name if a set has two of that name, because the match would be
 * ambiguous. Paths that all sets have are not considered.
 *
 * Return: 0 or -ENOMEM.
 */
int program_match(struct program_match *ret, struct build_row *rows, size_t count, size_t sets);

#endif
