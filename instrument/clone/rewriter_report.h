/* SPDX-License-Identifier: GPL-2.0-only */
/* Summary of a rewriting (rewriter.h). */
#ifndef DCPI_INSTRUMENT_REWRITER_REPORT_H
#define DCPI_INSTRUMENT_REWRITER_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct candidates;

#define REWRITER_REASONS_MAX 32

/** struct rewriter_reason - a reason for which procedures were not rewritten. */
struct rewriter_reason {
	char text[96];
	size_t procedures;
	uint64_t bytes;
};

/**
 * struct rewriter_report - summary of a rewriting
 * @procedures, @bytes: all code of the image, without PLT stubs
 * @cloned, @cloned_bytes: the part that was rewritten
 * @blocks, @counters: of rewritten procedures
 * @new_bytes: size of the added code
 */
struct rewriter_report {
	size_t procedures;
	uint64_t bytes;
	size_t cloned;
	uint64_t cloned_bytes;
	uint64_t new_bytes;
	uint64_t blocks;
	uint64_t counters;
	struct rewriter_reason reasons[REWRITER_REASONS_MAX];
	size_t reason_count;
};

/** rewriter_report_fill() - fill in all members but @new_bytes and @counters. */
void rewriter_report_fill(struct rewriter_report *ret, const struct candidates *candidates);

/* Called for a contiguous range of a procedure's instructions that is not rewritten. */
typedef void rewriter_report_left_fn(void *context, const char *name, uint64_t start, uint64_t end,
				     const char *why);

/** rewriter_report_left() - visit all such ranges, procedure by procedure. */
void rewriter_report_left(const struct candidates *candidates, rewriter_report_left_fn *left,
			  void *context);

/** rewriter_report_print() - print a line for the rewriting, and one for each reason */
void rewriter_report_print(FILE *out, const struct rewriter_report *report);

/** rewriter_report_text() - return the same as a string. Return: malloc'd, or NULL. */
char *rewriter_report_text(const struct rewriter_report *report);

#endif
