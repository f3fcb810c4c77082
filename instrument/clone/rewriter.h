/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rewrite an executable or shared object so that it records its execution (mode.h), without source,
 * relocations or help of a compiler. Procedures whose control flow is known entirely are cloned at
 * the end of the image, with recording code. Their original entries, and the targets of their jump
 * tables, get jumps to the clones. All other code stays unchanged at its address: code that is not
 * understood still works, but is not recorded.
 */
#ifndef DCPI_INSTRUMENT_REWRITER_H
#define DCPI_INSTRUMENT_REWRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "instrument/clone/rewriter_report.h"
#include "instrument/mode/mode.h"

/**
 * struct rewriter_options - options of a rewriting
 * @output:  path of the new file
 * @profile: prefix of the names of its profile files; NULL: @output
 * @secure:  processes with AT_SECURE (set-user-ID programs, file capabilities) record, too
 * @debug:   directory with separate debug files, or NULL
 * @mode:    selects the data to record
 * @of_mode: options of the mode
 * @left:    called for each contiguous range of code that is not rewritten, with the procedure's
 *           name and the reason; may be NULL
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
 * Time is proportional to the size of the code.
 *
 * Return: 0; errors of elf_image_open(), image_code_open() and elf_image_write(); -ENOTSUP if
 * nothing could be rewritten.
 */
int rewriter_run(const char *path, const struct rewriter_options *options,
		 struct rewriter_report *report, struct error *err);

#endif
