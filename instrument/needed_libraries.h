/* SPDX-License-Identifier: GPL-2.0-only */
/* The libraries that a program begins with, as its dynamic loader finds them. */
#ifndef DCPI_INSTRUMENT_NEEDED_LIBRARIES_H
#define DCPI_INSTRUMENT_NEEDED_LIBRARIES_H

#include <stddef.h>

struct error;

/** struct needed_library - @name: that it is asked for by; both malloc'd */
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
 * needed_libraries_find() - ask a program's loader
 * @ret: out; without those that are not looked for by a plain name, as the loader itself
 *
 * The loader is run, not the program. Return: 0; -ENOTSUP a static program; -ENOEXEC the
 * loader says nothing; errors of elf_image_open(), fork(2).
 */
int needed_libraries_find(struct needed_libraries *ret, const char *program, struct error *err);

void needed_libraries_deinit(struct needed_libraries *libraries);

#endif
