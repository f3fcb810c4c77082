// SPDX-License-Identifier: GPL-2.0-only
/* CSV: a line for each instruction with samples, a column of samples for each event. */
#include <errno.h>
#include <inttypes.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/text.h"
#include "tools/export/exporter.h"

static int put_clean(FILE *file, const char *text, bool first)
{
	_cleanup_free_ char *clean = text_clean(text);

	if (clean == NULL)
		return -ENOMEM;
	text_csv(file, clean, first);
	return 0;
}

/* Rows without an address or line have an empty field there. */
static int put_row(FILE *file, const struct export_profile *profile, const struct tally_row *row)
{
	char address[24] = "", line[16] = "", offset[24];

	if (row->has_address)
		snprintf(address, sizeof(address), "0x%" PRIx64, row->address);
	if (row->source != NULL)
		snprintf(line, sizeof(line), "%u", row->line);
	snprintf(offset, sizeof(offset), "0x%" PRIx64, row->offset);
	if (put_clean(file, row->image, true) < 0)
		return -ENOMEM;
	text_csv(file, tally_row_build_id(row), false);
	if (put_clean(file, row->procedure, false) < 0)
		return -ENOMEM;
	text_csv(file, address, false);
	text_csv(file, offset, false);
	if (put_clean(file, row->source != NULL ? row->source : "", false) < 0)
		return -ENOMEM;
	text_csv(file, line, false);
	for (size_t i = 0; i < profile->event_count; i++)
		fprintf(file, ",%" PRIu64, exporter_count(&profile->events[i], &row->counts[i]));
	fputs("\r\n", file);
	return 0;
}

static int write_csv(FILE *file, const struct export_profile *profile, struct error *err)
{
	int r = 0;

	fputs("image,build_id,procedure,address,offset,source,line", file);
	for (size_t i = 0; r == 0 && i < profile->event_count; i++)
		r = put_clean(file, profile->events[i].name, false);
	fputs("\r\n", file);
	for (size_t i = 0; r == 0 && i < profile->row_count; i++)
		r = put_row(file, profile, &profile->rows[i]);
	return r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}

const struct exporter exporter_csv = {
	.name = "csv",
	.summary = "comma-separated values, by instruction",
	.write = write_csv,
};
