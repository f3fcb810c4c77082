// SPDX-License-Identifier: GPL-2.0-only
#include "tools/export/exporter.h"

#include <string.h>

bool exporter_same_procedure(const struct tally_row *a, const struct tally_row *b)
{
	/* Two static procedures may have one name: they do not begin at one place. */
	return a->image == b->image && a->has_address == b->has_address &&
	       a->address - a->inside == b->address - b->inside &&
	       strcmp(a->procedure, b->procedure) == 0;
}

size_t exporter_procedure(const struct export_profile *profile, size_t row, uint64_t *samples)
{
	const struct tally_row *first = &profile->rows[row];

	for (size_t event = 0; event < profile->event_count; event++)
		samples[event] = 0;
	for (; row < profile->row_count; row++) {
		const struct tally_row *next = &profile->rows[row];

		if (!exporter_same_procedure(first, next))
			break;
		for (size_t event = 0; event < profile->event_count; event++)
			samples[event] += next->counts[event].samples;
	}
	return row;
}

const char *exporter_image_name(const struct tally_row *row)
{
	const char *slash = strrchr(row->image, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : row->image;
}
