/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that is rewritten to be run at once: as it was rewritten before
 * (program_cache.h), or anew, and then kept there if it can be, or else where the
 * caller wants it.
 */
#ifndef DCPI_INSTRUMENT_RUNNABLE_H
#define DCPI_INSTRUMENT_RUNNABLE_H

#include <stdio.h>

#include "instrument/program_cache.h"

#define RUNNABLE_PATH_BYTES 4096

/**
 * struct runnable - a rewritten program
 * @path:  where it is
 * @cache: private, as the rest
 */
struct runnable {
	const char *path;
	struct program_cache cache;
	char *own;
	char *text;
};

/** runnable_find() - where a shell would find a program. Return: 0; -ENOENT. */
int runnable_find(char path[RUNNABLE_PATH_BYTES], const char *name);

/**
 * runnable_get() - a program, rewritten
 * @ret:     out; freed by runnable_deinit(), if there is an error too
 * @options: how; its output and profile are not looked at
 * @otherwise: where it is made if it cannot be kept
 *
 * Return: 0; errors as of rewriter_run().
 */
int runnable_get(struct runnable *ret, const char *program, const struct rewriter_options *options,
		 const char *otherwise, struct error *err);

/**
 * runnable_run() - run it, and wait for its end
 * @prefix: of the files that it records in
 * @search: where its loader looks for libraries first; NULL: nowhere else
 * @argv:   its arguments, and first its name
 *
 * Return: as a shell's $?; 127 it cannot be run, which has been told on stderr; errors.
 */
int runnable_run(const struct runnable *runnable, const char *prefix, const char *search,
		 char **argv, struct error *err);

/** runnable_tell() - what was told of its rewriting, whenever that was */
void runnable_tell(const struct runnable *runnable, FILE *out);

/** runnable_leave() - it is not to be removed by runnable_deinit() */
void runnable_leave(struct runnable *runnable);

void runnable_deinit(struct runnable *runnable);

#endif
