/* SPDX-License-Identifier: GPL-2.0-only */
/* What came of a rewriting (rewriter.h). */
#ifndef DCPI_INSTRUMENT_REWRITER_REPORT_H
#define DCPI_INSTRUMENT_REWRITER_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct candidates;

#define REWRITER_REASONS_MAX 32

/** struct rewriter_reason - why procedures were left as they are. */
struct rewriter_reason {
	char text[96];
	size_t procedures;
	uint64_t bytes;
};

/**
 * struct rewriter_report - what came of it
 * @procedures, @bytes: of code that the image has, stubs of the linkage table aside
 * @copied, @copied_bytes: of these, rewritten
 * @blocks, @counters: of what was copied
 * @new_bytes: of code that was added
 */
struct rewriter_report {
	size_t procedures;
	uint64_t bytes;
	size_t copied;
	uint64_t copied_bytes;
	uint64_t new_bytes;
	uint64_t blocks;
	uint64_t counters;
	struct rewriter_reason reasons[REWRITER_REASONS_MAX];
	size_t reason_count;
};

/** rewriter_report_fill() - all but @new_bytes and @counters, of what has been copied. */
void rewriter_report_fill(struct rewriter_report *ret, const struct candidates *candidates);

/* Told of a procedure's instructions that follow each other and are left as they are. */
typedef void rewriter_report_left_fn(void *context, const char *name, uint64_t start, uint64_t end,
				     const char *why);

/** rewriter_report_left() - tell of all of them, procedure by procedure. */
void rewriter_report_left(const struct candidates *candidates, rewriter_report_left_fn *left,
			  void *context);

/** rewriter_report_print() - tell it: a line, and one for each reason */
void rewriter_report_print(FILE *out, const struct rewriter_report *report);

/** rewriter_report_text() - the same as a text. Return: malloc'd, or NULL. */
char *rewriter_report_text(const struct rewriter_report *report);

#endif
