/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rewritten libraries of a program that is run (runnable.h), and links to them in a directory
 * where the program's loader finds them.
 */
#ifndef DCPI_INSTRUMENT_LIBRARY_SET_H
#define DCPI_INSTRUMENT_LIBRARY_SET_H

#include "instrument/needed_libraries.h"
#include "instrument/runnable.h"

#define LIBRARY_SET_WANTED_MAX 32

/**
 * struct library_set - zero-initialised is empty; freed by library_set_deinit()
 * @needed:    libraries that the program is linked with
 * @runnables: for each of them; without a path: it is not rewritten
 * @search:    directory that the loader is to search first; NULL: no library is rewritten
 */
struct library_set {
	struct needed_libraries needed;
	struct runnable *runnables;
	char *search;
};

/**
 * library_set_get() - rewrite the requested libraries of a program
 * @set:    out; also after an error
 * @wanted: @count names, at most LIBRARY_SET_WANTED_MAX: "libz.so.1", or the part before a dot; "":
 *          all libraries; those that cannot be rewritten are reported on stderr
 * @folder: directory for libraries that cannot be cached, and for links
 *
 * Return: 0; -ENOENT if a library is not needed by the program; errors of needed_libraries_find();
 * for libraries requested by name, errors of rewriter_run().
 */
int library_set_get(struct library_set *set, const char *program, const char *const *wanted,
		    size_t count, const struct rewriter_options *options, const char *folder,
		    struct error *err);

/** library_set_release() - keep library_set_deinit() from removing the libraries */
void library_set_release(struct library_set *set);

/** library_set_deinit() - free a set, remove its links, and the libraries that are neither cached
 * nor kept by library_set_release() */
void library_set_deinit(struct library_set *set);

#endif
