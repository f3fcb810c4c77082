/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From an executable or shared object to one that records what it does while it runs (mode.h),
 * without source, relocations or a compiler's help: procedures whose control flow is known entirely
 * are copied to the end of the image with code in them that records; their old entries, and the
 * places that jump tables lead to, jump there. Everything else stays as it is and where it is, so
 * what is not understood still works, and is not counted.
 */
#ifndef DCPI_INSTRUMENT_REWRITER_H
#define DCPI_INSTRUMENT_REWRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "instrument/copy/rewriter_report.h"
#include "instrument/mode/mode.h"

/**
 * struct rewriter_options - how
 * @output:  the new file
 * @profile: begin of the names of the files that it counts in; NULL: @output
 * @secure:  processes with AT_SECURE (set-user-ID programs, file capabilities) record, too
 * @debug:   directory with separate debug files, or NULL
 * @mode:    what is recorded
 * @of_mode: its options
 * @left:    told of code that is left as it is, run by run, with the procedure's name and
 *           why; NULL: nobody
 */
struct rewriter_options {
	const char *output;
	const char *profile;
	bool secure;
	const char *debug;
	const struct instrument_mode *mode;
	struct mode_options of_mode;
	rewriter_report_left_fn *left;
	void *context;
};

/**
 * rewriter_run() - rewrite an executable or shared object
 *
 * Time is in proportion to its code. Return: 0; errors as of elf_image_open(),
 * image_code_open() and elf_image_write(); -ENOTSUP nothing in it could be rewritten.
 */
int rewriter_run(const char *path, const struct rewriter_options *options,
		 struct rewriter_report *report, struct error *err);

#endif
