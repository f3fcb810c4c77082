/* SPDX-License-Identifier: GPL-2.0-only */
/* The references to memory of a rewritten program's bursts, as a listing. */
#ifndef DCPI_INSTRUMENT_BURSTS_REPORT_H
#define DCPI_INSTRUMENT_BURSTS_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "instrument/bursts/bursts_profile.h"

/** enum bursts_rows - kind of the rows */
enum bursts_rows {
	BURSTS_INSTRUCTIONS, /* by references, most first */
	BURSTS_PROCEDURES,   /* by references, most first */
	BURSTS_REFERENCES,   /* in order of execution */
};

/**
 * struct bursts_report_options - format of a report
 * @limit: maximum number of rows; 0: all. Without @csv a line reports how many were left out.
 * @csv:   comma-separated, after one line of names; else columns and headings
 */
struct bursts_report_options {
	enum bursts_rows rows;
	size_t limit;
	bool csv;
};

/** bursts_report_print() - print a report. Return: 1; 0 nothing was recorded; -ENOMEM. */
int bursts_report_print(FILE *out, const struct bursts_map *map,
			const struct bursts_profile *profile,
			const struct bursts_report_options *options, struct error *err);

#endif
