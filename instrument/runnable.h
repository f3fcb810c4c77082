/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that is rewritten to be run at once. The rewritten program is taken from the cache
 * (program_cache.h). If it is not there, the program is rewritten, and put into the cache if
 * possible, else where the caller requests it.
 */
#ifndef DCPI_INSTRUMENT_RUNNABLE_H
#define DCPI_INSTRUMENT_RUNNABLE_H

#include <stdio.h>

#include "instrument/program_cache.h"

/**
 * struct runnable - a rewritten program
 * @path:  of the rewritten program
 * @cache: private, as are all further members
 */
struct runnable {
	const char *path;
	struct program_cache cache;
	char *own;
	char *text;
};

/**
 * runnable_get() - get a rewritten program
 * @ret:     out; freed by runnable_deinit(), also after an error
 * @options: of the rewriting; their output and profile are ignored
 * @otherwise: path for a program that cannot be cached
 *
 * Return: 0; errors of rewriter_run().
 */
int runnable_get(struct runnable *ret, const char *program, const struct rewriter_options *options,
		 const char *otherwise, struct error *err);

/**
 * runnable_run() - run the program, and wait for its end
 * @prefix: of the files that it records in
 * @search: directory that its loader searches first for libraries; NULL: none
 * @argv:   its name, then its arguments
 *
 * Return: the exit status as a shell's $?; 127 if it cannot be run, after a message on stderr;
 * errors.
 */
int runnable_run(const struct runnable *runnable, const char *prefix, const char *search,
		 char **argv, struct error *err);

/** runnable_print_report() - print the report of its rewriting, even if that was earlier */
void runnable_print_report(const struct runnable *runnable, FILE *out);

/** runnable_release() - keep runnable_deinit() from removing the program */
void runnable_release(struct runnable *runnable);

void runnable_deinit(struct runnable *runnable);

#endif
