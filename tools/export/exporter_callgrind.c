// SPDX-License-Identifier: GPL-2.0-only
/* Callgrind's format, for KCachegrind and callgrind_annotate: costs are samples. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "tools/base/text.h"
#include "tools/export/exporter.h"

static int put_name(FILE *file, const char *key, const char *name)
{
	_cleanup_free_ char *clean = text_clean(name);

	if (clean == NULL)
		return -ENOMEM;
	fprintf(file, "%s=%s\n", key, clean);
	return 0;
}

static int put_heading(FILE *file, const struct export_profile *profile)
{
	_cleanup_free_ char *clean = text_clean(profile->comment);

	if (clean == NULL)
		return -ENOMEM;
	fprintf(file,
		"# callgrind format\nversion: 1\ncreator: dcpiexport\ncmd: %s\n"
		"positions: instr line\nevents:",
		clean);
	for (size_t i = 0; i < profile->event_count; i++) {
		fputc(' ', file);
		/* Names end at blanks, and may not have what their formulas are made of. */
		for (const char *at = profile->events[i].name; *at != '\0'; at++)
			fputc(strchr(" \t+*:,=/", *at) != NULL ? '_' : *at, file);
	}
	fputc('\n', file);
	return 0;
}

static bool same_file(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* A procedure with lines of an inlined one goes on in that one's file. */
static int put_place(FILE *file, const struct tally_row *row, const struct tally_row *before)
{
	const char *source = row->source != NULL ? row->source : "???";

	if (before == NULL || !exporter_same_procedure(row, before)) {
		if (before == NULL || row->image != before->image) {
			if (put_name(file, "\nob", row->image) < 0)
				return -ENOMEM;
		}
		return put_name(file, "\nfl", source) < 0 ||
				       put_name(file, "fn", row->procedure) < 0
			       ? -ENOMEM
			       : 0;
	}
	return same_file(row->source, before->source) ? 0 : put_name(file, "fi", source);
}

static int write_callgrind(FILE *file, const struct export_profile *profile, struct error *err)
{
	const struct tally_row *before = NULL;

	if (put_heading(file, profile) < 0)
		return error_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct tally_row *row = &profile->rows[i];

		if (put_place(file, row, before) < 0)
			return error_set(err, ENOMEM, "out of memory");
		fprintf(file, "0x%" PRIx64 " %u", row->address, row->line);
		for (size_t event = 0; event < profile->event_count; event++)
			fprintf(file, " %" PRIu64, row->counts[event].samples);
		fputc('\n', file);
		before = row;
	}
	return 0;
}

const struct exporter exporter_callgrind = {
	.name = "callgrind",
	.summary = "callgrind's format (KCachegrind, callgrind_annotate), by instruction",
	.write = write_callgrind,
};
