// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/bursts/bursts_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "instrument/profile/report_text.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Bytes of a cache line. */
#define LINE_BYTES 64

/* A reference, or the sums of an instruction or a procedure. */
struct row {
	uint64_t subject; /* number of the instruction, or the procedure */
	uint64_t line;
	uint64_t references;
	uint64_t lines;
};

static int by_subject(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->subject != y->subject)
		return x->subject < y->subject ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int by_references(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->references != y->references)
		return x->references < y->references ? 1 : -1;
	return (x->subject > y->subject) - (x->subject < y->subject);
}

/* Return: number of remaining rows, sorted by subject. */
static size_t bursts_report_add_up(struct row *rows, size_t count)
{
	size_t kept = 0;

	qsort(rows, count, sizeof(*rows), by_subject);
	for (size_t i = 0; i < count; i++) {
		struct row *last = kept > 0 ? &rows[kept - 1] : NULL;

		if (last == NULL || last->subject != rows[i].subject) {
			rows[kept] = rows[i];
			rows[kept].references = rows[kept].lines = 1;
			kept++;
			continue;
		}
		last->references++;
		last->lines += last->line != rows[i].line;
		last->line = rows[i].line;
	}
	return kept;
}

static void print_row(FILE *out, const struct bursts_map *map, const struct row *row, uint64_t all,
		      const struct bursts_report_options *options)
{
	bool instructions = options->rows == BURSTS_INSTRUCTIONS;
	size_t number =
		instructions ? bursts_map_find(map, (uint32_t)row->subject) : (size_t)row->subject;
	const struct bursts_procedure *procedure = &map->procedures[number];
	uint64_t address = instructions ? map->references[row->subject] : procedure->address;

	fprintf(out,
		options->csv ? "%" PRIu64 ",%.4f,%" PRIu64 ",%#" PRIx64 ","
			     : "%12" PRIu64 "  %5.1f%%  %10" PRIu64 "  %#12" PRIx64 "  ",
		row->references, 100 * (double)row->references / (double)all, row->lines, address);
	report_text_procedure(out, procedure->name, options->csv);
	fputc('\n', out);
}

static int print_sums(FILE *out, const struct bursts_map *map, const struct bursts_profile *profile,
		      const struct bursts_report_options *options)
{
	_cleanup_free_ struct row *rows = malloc((profile->count + 1) * sizeof(*rows));
	size_t count, shown;

	if (rows == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < profile->count; i++) {
		uint32_t number = profile->all[i].number;

		rows[i] = (struct row){
			.subject = options->rows == BURSTS_INSTRUCTIONS
					   ? number
					   : bursts_map_find(map, number),
			.line = profile->all[i].address / LINE_BYTES,
		};
	}
	count = bursts_report_add_up(rows, profile->count);
	qsort(rows, count, sizeof(*rows), by_references);
	shown = options->limit > 0 && options->limit < count ? options->limit : count;
	fputs(options->csv ? "references,percent,lines,address,procedure\n"
			   : "  references       %       lines       address  procedure\n",
	      out);
	for (size_t i = 0; i < shown; i++)
		print_row(out, map, &rows[i], profile->count, options);
	if (!options->csv && shown < count)
		fprintf(out, "... %zu more\n", count - shown);
	return 0;
}

static void print_trace(FILE *out, const struct bursts_map *map,
			const struct bursts_profile *profile,
			const struct bursts_report_options *options)
{
	size_t shown = options->limit > 0 && options->limit < profile->count ? options->limit
									     : profile->count;

	fputs(options->csv ? "thread,burst,instruction,address\n"
			   : "thread     burst   instruction           address\n",
	      out);
	for (size_t i = 0; i < shown; i++) {
		const struct bursts_reference *reference = &profile->all[i];

		fprintf(out,
			options->csv ? "%" PRIu32 ",%" PRIu32 ",%#" PRIx64 ",%#" PRIx64 "\n"
				     : "%6" PRIu32 "  %8" PRIu32 "  %#12" PRIx64 "  %#16" PRIx64
				       "\n",
			reference->thread, reference->burst, map->references[reference->number],
			reference->address);
	}
	if (!options->csv && shown < profile->count)
		fprintf(out, "... %zu more\n", profile->count - shown);
}

static void print_heading(FILE *out, const struct bursts_map *map,
			  const struct bursts_profile *profile)
{
	report_text_name(out, map->path, false);
	if (map->checks == 0)
		fprintf(out, ": everything is recorded; %zu references", profile->count);
	else
		fprintf(out,
			": %" PRIu64 " bursts of %" PRIu32 " checks, %" PRIu32 " between two; "
			"%zu references",
			profile->bursts, map->records, map->checks, profile->count);
	if (profile->lost > 0)
		fprintf(out, ", %" PRIu64 " lost", profile->lost);
	fputs("\n\n", out);
}

int bursts_report_print(FILE *out, const struct bursts_map *map,
			const struct bursts_profile *profile,
			const struct bursts_report_options *options, struct error *err)
{
	if (profile->count == 0)
		return 0;
	if (!options->csv)
		print_heading(out, map, profile);
	if (options->rows == BURSTS_REFERENCES)
		print_trace(out, map, profile, options);
	else if (print_sums(out, map, profile, options) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return 1;
}
