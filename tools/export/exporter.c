// SPDX-License-Identifier: GPL-2.0-only
#include "tools/export/exporter.h"

#include <string.h>

bool exporter_same_procedure(const struct tally_row *a, const struct tally_row *b)
{
	/* Two static procedures may have the same name, but their start addresses differ. */
	return a->image == b->image && a->has_address == b->has_address &&
	       a->address - a->inside == b->address - b->inside &&
	       strcmp(a->procedure, b->procedure) == 0;
}

uint64_t exporter_count(const struct export_event *event, const struct tally_count *count)
{
	double scaled = ((double)count->samples + count->extra) / event->least;

	/* In a damaged database the times may yield any factor. */
	return scaled < (double)INT64_MAX ? (uint64_t)(scaled + 0.5) : UINT64_MAX;
}

size_t exporter_procedure(const struct export_profile *profile, size_t row, uint64_t *samples)
{
	size_t next = row;

	while (next < profile->row_count &&
	       exporter_same_procedure(&profile->rows[row], &profile->rows[next]))
		next++;
	for (size_t event = 0; event < profile->event_count; event++) {
		struct tally_count sum = {0};

		for (size_t i = row; i < next; i++) {
			sum.samples += profile->rows[i].counts[event].samples;
			sum.extra += profile->rows[i].counts[event].extra;
		}
		samples[event] = exporter_count(&profile->events[event], &sum);
	}
	return next;
}

const char *exporter_image_name(const struct tally_row *row)
{
	const char *slash = strrchr(row->image, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : row->image;
}
