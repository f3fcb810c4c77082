// SPDX-License-Identifier: GPL-2.0-only
/* Callgrind's format, for KCachegrind and callgrind_annotate; costs are samples. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/text.h"
#include "tools/export/export_contexts.h"
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
		/*
		 * Names end at blanks, and may not contain the operators of the format's formulas.
		 */
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

/* Lines of an inlined procedure have its file, but stay in the enclosing procedure ("fi"). */
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
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct tally_row *row = &profile->rows[i];

		if (put_place(file, row, before) < 0)
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
		fprintf(file, "0x%" PRIx64 " %u", row->address, row->line);
		for (size_t event = 0; event < profile->event_count; event++)
			fprintf(file, " %" PRIu64,
				exporter_count(&profile->events[event], &row->counts[event]));
		fputc('\n', file);
		before = row;
	}
	return 0;
}

/*
 * Print a context: the cost of its procedure, then the calls of its children with their inclusive
 * costs.
 */
static void put_context(FILE *file, const struct export_contexts *contexts,
			const uint64_t *inclusive, const uint32_t *next, size_t number)
{
	const struct export_context *context = &contexts->contexts[number];
	const struct export_procedure *procedure = &contexts->procedures[context->procedure];

	fprintf(file, "\nfn=%s\n0x%" PRIx64 " 0 %" PRIu64 "\n", procedure->name, procedure->address,
		contexts->stacks.nodes[number].value);
	for (uint32_t child = next[2 * number]; child != 0; child = next[2 * child + 1]) {
		const struct export_context *called = &contexts->contexts[child];

		fprintf(file,
			"cfn=%s\ncalls=%" PRIu64 " 0x%" PRIx64 " 0\n0x%" PRIx64 " 0 %" PRIu64 "\n",
			contexts->procedures[called->procedure].name, called->calls,
			contexts->procedures[called->procedure].address, procedure->address,
			inclusive[child]);
	}
}

static int callgrind_write_contexts(FILE *file, const struct export_contexts *contexts,
				    struct error *err)
{
	size_t count = contexts->stacks.count;
	_cleanup_free_ uint64_t *inclusive = calloc(count, sizeof(*inclusive));
	_cleanup_free_ uint32_t *next = calloc(2 * count, sizeof(*next)); /* first child, sibling */

	if (inclusive == NULL || next == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = count; i-- > 0;) {
		uint32_t parent = contexts->stacks.nodes[i].parent;

		inclusive[i] += contexts->stacks.nodes[i].value;
		if (i == 0)
			break;
		inclusive[parent] += inclusive[i];
		next[2 * i + 1] = next[2 * parent];
		next[2 * parent] = (uint32_t)i;
	}
	fprintf(file,
		"# callgrind format\nversion: 1\ncreator: dcpiexport\npositions: instr line\n"
		"events: %s\nsummary: %" PRIu64 "\n",
		contexts->metric, inclusive[0]);
	if (put_name(file, "\nob", contexts->image) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	fputs("fl=???\n", file);
	for (size_t i = 1; i < count; i++)
		put_context(file, contexts, inclusive, next, i);
	return 0;
}

const struct exporter exporter_callgrind = {
	.name = "callgrind",
	.summary = "callgrind's format (KCachegrind, callgrind_annotate), by instruction",
	.write = write_callgrind,
	.write_contexts = callgrind_write_contexts,
};
