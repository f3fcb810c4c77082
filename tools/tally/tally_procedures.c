// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/tally_procedures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/procedure_names.h"
#include "lib/error.h"
#include "tools/report/image_symbols.h"

static int count_procedures(void *context, const struct profile *profile)
{
	struct tally *tally = context;
	long event = tally_state_wanted(tally, profile);
	double factor = tally_state_factor(tally, profile);

	if (event < 0)
		return 0;
	for (size_t i = 0; i < profile->count; i++) {
		size_t procedure = image_symbols_find(tally->symbols, profile->samples[i].offset);

		tally_count_add(&tally->counts[procedure * tally->columns + (size_t)event],
				profile->samples[i].count, factor);
	}
	return 0;
}

/* Add a row for each procedure with samples; the name and the counts are copied. */
static int add_procedure_rows(struct tally *tally, const struct tally_image *image)
{
	size_t columns = tally->columns;

	for (size_t i = 0; i < image_symbols_count(tally->symbols); i++) {
		struct tally_row row = {
			.image = image->label, .file = &image->image, .identity = image->identity};
		size_t before = tally->row_count;
		const struct procedure_names *names;
		struct tally_count *counts;
		uint64_t offset;

		row.counts = tally->counts + i * columns;
		if (tally_state_add_row(tally, &row) < 0)
			return -ENOMEM;
		if (tally->row_count == before)
			continue; /* no samples */
		counts = tally_state_own(tally, malloc(columns * sizeof(*counts)));
		names = tally_state_names(tally, i);
		if (counts == NULL || names == NULL)
			return -ENOMEM;
		tally->rows[before].counts = counts;
		tally->rows[before].names = names;
		tally->rows[before].procedure = names->name;
		tally->rows[before].has_address = image_symbols_start(tally->symbols, i, &offset,
								      &tally->rows[before].address);
		memcpy(counts, row.counts, columns * sizeof(*counts));
	}
	return 0;
}

int tally_procedures_count(struct tally *tally, struct profile_reader *reader,
			   const struct profile_filter *filter, struct error *err)
{
	int r;

	tally->counts = calloc(image_symbols_count(tally->symbols),
			       tally->columns * sizeof(*tally->counts));
	if (tally->counts == NULL)
		return error_set(err, ENOMEM, "out of memory");
	r = profile_reader_profiles(reader, filter, count_procedures, tally, err);
	if (r == 0 && add_procedure_rows(tally, tally->image) < 0)
		r = error_set(err, ENOMEM, "out of memory");
	free(tally->counts);
	tally->counts = NULL;
	return r;
}
