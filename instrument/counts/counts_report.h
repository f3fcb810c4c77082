/* SPDX-License-Identifier: GPL-2.0-only */
/* What a rewritten program counted, as a listing. */
#ifndef DCPI_INSTRUMENT_COUNTS_REPORT_H
#define DCPI_INSTRUMENT_COUNTS_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "instrument/counts/counts_profile.h"

/** enum counts_rows - a row for each. */
enum counts_rows {
	COUNTS_PROCEDURES, /* by instructions executed, most first */
	COUNTS_BLOCKS,	   /* by address */
	COUNTS_EDGES,	   /* by address */
};

/**
 * struct counts_report_options - how
 * @limit: rows at the most; 0: all. Without @csv a line says how many were left out.
 * @csv:   comma-separated, one line of names first; else columns and a heading
 */
struct counts_report_options {
	enum counts_rows rows;
	size_t limit;
	bool csv;
};

/**
 * counts_report_print() - print it
 *
 * Rows of what never ran are left out.
 *
 * Return: 1; 0 nothing was counted; -EBADMSG, -ENOMEM.
 */
int counts_report_print(FILE *out, const struct counts_map *map,
			const struct counts_profile *profile,
			const struct counts_report_options *options, struct error *err);

#endif
