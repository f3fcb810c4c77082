/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts of a rewritten program, as a listing. */
#ifndef DCPI_INSTRUMENT_COUNTS_REPORT_H
#define DCPI_INSTRUMENT_COUNTS_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "instrument/counts/counts_profile.h"

/** enum counts_rows - kind of the rows */
enum counts_rows {
	COUNTS_PROCEDURES, /* by instructions executed, most first */
	COUNTS_BLOCKS,	   /* by address */
	COUNTS_EDGES,	   /* by address */
};

/**
 * struct counts_report_options - format of a report
 * @limit: maximum number of rows; 0: all. Without @csv a line reports how many were left out.
 * @csv:   comma-separated, after one line of names; else columns and a heading
 */
struct counts_report_options {
	enum counts_rows rows;
	size_t limit;
	bool csv;
};

/**
 * counts_report_print() - print a report
 *
 * Code that never ran is left out.
 *
 * Return: 1; 0 nothing was counted; -EBADMSG, -ENOMEM.
 */
int counts_report_print(FILE *out, const struct counts_map *map,
			const struct counts_profile *profile,
			const struct counts_report_options *options, struct error *err);

#endif
