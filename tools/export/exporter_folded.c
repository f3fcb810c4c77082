// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folded stacks, the input of flame graphs: "IMAGE;PROCEDURE SAMPLES". Sample stacks have two
 * frames, because callers are not sampled; only the first event is written. Stacks of contexts are
 * complete.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/stack_tree.h"
#include "tools/base/text.h"
#include "tools/export/export_contexts.h"
#include "tools/export/exporter.h"

static int put_frame(FILE *file, const char *name, char end)
{
	_cleanup_free_ char *clean = text_clean(name);

	if (clean == NULL)
		return -ENOMEM;
	stack_tree_frame(file, clean);
	fputc(end, file);
	return 0;
}

static int write_folded(FILE *file, const struct export_profile *profile, struct error *err)
{
	_cleanup_free_ uint64_t *samples = calloc(profile->event_count + 1, sizeof(*samples));
	size_t row = 0, next;

	if (samples == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (; row < profile->row_count; row = next) {
		const struct tally_row *first = &profile->rows[row];

		next = exporter_procedure(profile, row, samples);
		if (samples[0] == 0)
			continue;
		if (put_frame(file, exporter_image_name(first), ';') < 0 ||
		    put_frame(file, first->procedure, ' ') < 0)
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
		fprintf(file, "%" PRIu64 "\n", samples[0]);
	}
	return 0;
}

static int folded_write_contexts(FILE *file, const struct export_contexts *contexts,
				 struct error *err)
{
	if (stack_tree_folded(file, &contexts->stacks) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return 0;
}

const struct exporter exporter_folded = {
	.name = "folded",
	.summary = "folded stacks (flamegraph.pl, inferno), two frames deep, first event",
	.write = write_folded,
	.write_contexts = folded_write_contexts,
};
