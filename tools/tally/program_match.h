/* SPDX-License-Identifier: GPL-2.0-only */
/* Which images of tallies are one program, although they were at different paths. */
#ifndef DCPI_PROGRAM_MATCH_H
#define DCPI_PROGRAM_MATCH_H

#include "tools/tally/build_match.h"

/** struct program_alias - @path is taken for @program; both are the tallies' */
struct program_alias {
	const char *path;
	const char *program;
};

/** struct program_match - what was taken for something by its name only */
struct program_match {
	struct program_alias *list;
	size_t count;
	size_t capacity;
};

/**
 * program_match() - give rows the image of their program
 * @ret:  out; free(@list) afterwards, also after a failure
 * @rows: sorted here; @row->file becomes that of the program's image in the first set that has it
 * @sets: of @row->counts
 *
 * Images of one path are a program already. So are those of one identity, wherever they were,
 * and files of one name whose directories differ from set to set: /tmp/before/prog and
 * /tmp/after/prog. Not if a set has two of that name, for then there is no telling which is
 * which; those that all sets have are not in question.
 *
 * Return: 0 or -ENOMEM.
 */
int program_match(struct program_match *ret, struct build_row *rows, size_t count, size_t sets);

#endif
