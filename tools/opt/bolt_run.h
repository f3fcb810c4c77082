/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs BOLT on a program with a profile of dcpiexport. */
#ifndef DCPI_BOLT_RUN_H
#define DCPI_BOLT_RUN_H

#include <limits.h>
#include <stddef.h>

struct error;

#define BOLT_RUN_NAMES_BYTES 1024

/**
 * struct bolt_run - a run
 * @folder:   existing folder for the profile, the copy and the logs
 * @database: NULL: dcpiexport's default
 * @image:    path of the original program
 * @pattern:  for dcpiexport --image: selects this build of the program
 * @skipped:  out: functions that ended BOLT, and were therefore skipped: a list with commas
 * @unknown:  out: functions whose jumps BOLT does not understand; also a list, may be truncated
 */
struct bolt_run {
	const char *folder;
	const char *database;
	const char *image;
	const char *pattern;
	char skipped[BOLT_RUN_NAMES_BYTES];
	char unknown[BOLT_RUN_NAMES_BYTES];
};

/**
 * bolt_run_make() - export the profile, and write the optimised copy
 *
 * BOLT gives up when it cannot rewrite a function with computed jumps; then it is run again without
 * this function.
 *
 * Return: 0; -ENOENT: BOLT or dcpiexport is not installed; -ENODATA: dcpiexport has no profile (it
 * has printed the reason); -EIO: BOLT failed (@err names the log).
 */
int bolt_run_make(struct bolt_run *run, struct error *err);

/**
 * bolt_run_export() - write one format of dcpiexport to a file of the folder
 * @format: as for dcpiexport --format
 *
 * Return: as bolt_run_make().
 */
int bolt_run_export(const struct bolt_run *run, const char *format, const char *name,
		    struct error *err);

#endif
