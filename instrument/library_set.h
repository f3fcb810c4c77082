/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The libraries of a program that is run, rewritten (runnable.h), and links to them in a
 * folder where its loader finds them.
 */
#ifndef DCPI_INSTRUMENT_LIBRARY_SET_H
#define DCPI_INSTRUMENT_LIBRARY_SET_H

#include "instrument/needed_libraries.h"
#include "instrument/runnable.h"

#define LIBRARY_SET_WANTED_MAX 32

/**
 * struct library_set - zero-initialised is empty; freed by library_set_deinit()
 * @needed:    what the program begins with
 * @runnables: of each of these; without a path: it stays as it is
 * @search:    where the loader is to look first; NULL: there are none
 */
struct library_set {
	struct needed_libraries needed;
	struct runnable *runnables;
	char *search;
};

/**
 * library_set_get() - those that are wanted of a program's
 * @set:    out; also if there is an error
 * @wanted: so many names, at most LIBRARY_SET_WANTED_MAX: "libz.so.1", or the beginning
 *          up to a dot; "": all that can be rewritten, others are told of on stderr
 * @folder: for what cannot be kept, and for links
 *
 * Return: 0; -ENOENT one is not needed; errors of needed_libraries_find(); of a library
 * that was asked for by name, those of rewriter_run().
 */
int library_set_get(struct library_set *set, const char *program, const char *const *wanted,
		    size_t count, const struct rewriter_options *options, const char *folder,
		    struct error *err);

/** library_set_leave() - they are not to be removed by library_set_deinit() */
void library_set_leave(struct library_set *set);

/** library_set_deinit() - free, and remove links and what is not kept, but for what was left */
void library_set_deinit(struct library_set *set);

#endif
