/* SPDX-License-Identifier: GPL-2.0-only */
/* The libraries that a program is linked with, as its dynamic loader finds them. */
#ifndef DCPI_INSTRUMENT_NEEDED_LIBRARIES_H
#define DCPI_INSTRUMENT_NEEDED_LIBRARIES_H

#include <stddef.h>

struct error;

/** struct needed_library - @name: that the program asks for; both members are malloc'd. */
struct needed_library {
	char *name;
	char *path;
};

/** struct needed_libraries - zero-initialised is empty; freed by needed_libraries_deinit() */
struct needed_libraries {
	struct needed_library *all;
	size_t count;
	size_t capacity;
};

/**
 * needed_libraries_find() - ask a program's loader for its libraries
 * @ret: out; without libraries that are not searched for by a plain name, such as the loader itself
 *
 * Runs the loader, not the program. Return: 0; -ENOTSUP for a static program; -ENOEXEC if the
 * loader fails; errors of elf_image_open(), fork(2).
 */
int needed_libraries_find(struct needed_libraries *ret, const char *program, struct error *err);

void needed_libraries_deinit(struct needed_libraries *libraries);

#endif
