/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints a report as text, JSON or CSV: totals, a preface, the table. */
#ifndef DCPI_REPORT_H
#define DCPI_REPORT_H

#include "tools/base/columns.h"

struct cli;
struct error;
struct json_object;
struct report_header;

/**
 * struct report_total - a total over all rows
 * @excluded: those of @count that profiling causes, and @idle those in which a CPU has no work;
 * shares exclude both
 */
struct report_total {
	const char *name;
	uint64_t count;
	uint64_t excluded;
	uint64_t idle;
};

/**
 * struct report_preface - text printed first instead of totals
 * @text: prints it
 * @json: adds it to the report's object. Return: 0 or -ENOMEM
 */
struct report_preface {
	void (*text)(FILE *stream, const void *context);
	int (*json)(struct json_object *object, const void *context);
	const void *context;
};

/**
 * struct report - a report
 * @totals_of: description of the totals: "samples for event type"
 * @preface:   replaces the totals, if it has functions
 * @notes:     lines after the header, which explain the table; after the table if the header is
 *             brief; or NULL
 * @caption:   text line before the table; omitted if the header is brief and there are @notes; or
 *             NULL
 * @footer:    text line after the table; or NULL
 */
struct report {
	const struct report_header *header;
	const char *totals_of;
	const struct report_total *totals;
	size_t total_count;
	struct report_preface preface;
	void (*notes)(FILE *stream, const void *context);
	void (*caption)(FILE *stream, const void *context);
	void (*footer)(FILE *stream, const void *context);
	struct columns_table table;
};

/**
 * report_json() - make the object that report_print() prints in JSON
 *
 * The header's members are omitted if @report has no header. Return: NULL if out of memory.
 */
struct json_object *report_json(const struct report *report);

/**
 * report_print() - print in the format that @cli selects. Return: 0, -ENOMEM, or write(2)'s error
 */
int report_print(const struct report *report, const struct cli *cli, struct error *err);

#endif
