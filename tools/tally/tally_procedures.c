// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/tally_procedures.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/image/procedure_names.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/report/image_symbols.h"

/* Return the counts of a procedure, which the tally owns; NULL: out of memory. */
static struct tally_count *counts_of(struct tally *tally, size_t procedure)
{
	struct tally_count **counts = &tally->counts[procedure];

	if (*counts == NULL)
		*counts = tally_state_own(tally, calloc(tally->columns, sizeof(**counts)));
	return *counts;
}

static int count_procedures(void *context, const struct profile *profile)
{
	struct tally *tally = context;
	long event = tally_state_wanted(tally, profile);
	double factor = tally_state_factor(tally, profile);

	if (event < 0)
		return 0;
	for (size_t i = 0; i < profile->count; i++) {
		struct tally_count *counts = counts_of(
			tally, image_symbols_find(tally->symbols, profile->samples[i].offset));

		if (counts == NULL)
			return -ENOMEM;
		tally_count_add(&counts[event], profile->samples[i].count, factor);
	}
	return 0;
}

/* Add a row for each procedure with samples. */
static int add_procedure_rows(struct tally *tally, const struct tally_image *image)
{
	for (size_t i = 0; i < image_symbols_count(tally->symbols); i++) {
		struct tally_row row = {.image = image->label,
					.file = &image->image,
					.image_id = image->id,
					.identity = image->identity,
					.of_profiler = image->of_profiler,
					.counts = tally->counts[i]};
		size_t before = tally->row_count;
		const struct procedure_names *names;
		uint64_t offset;

		if (row.counts == NULL)
			continue;
		if (tally_state_add_row(tally, &row) < 0)
			return -ENOMEM;
		if (tally->row_count == before)
			continue; /* no samples */
		names = tally_state_names(tally, i);
		if (names == NULL)
			return -ENOMEM;
		tally->rows[before].names = names;
		tally->rows[before].procedure = names->name;
		tally->rows[before].has_address = image_symbols_start(tally->symbols, i, &offset,
								      &tally->rows[before].address);
	}
	return 0;
}

int tally_procedures_count(struct tally *tally, struct profile_reader *reader,
			   const struct profile_filter *filter, struct error *err)
{
	int r;

	tally->counts = calloc(image_symbols_count(tally->symbols), sizeof(*tally->counts));
	if (tally->counts == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = profile_reader_profiles(reader, filter, count_procedures, tally, err);
	if (r == -ENOMEM)
		error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0 && add_procedure_rows(tally, tally->image) < 0)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	free(tally->counts);
	tally->counts = NULL;
	return r;
}
