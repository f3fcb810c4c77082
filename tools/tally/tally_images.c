// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/tally_images.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/report/procedure_classes.h"

/* @counts: by class, owned by the tally */
struct split {
	struct tally *tally;
	struct procedure_classes classes;
	struct tally_count *counts[PROFILER_CLASSES];
};

static void split_deinit(struct split *split)
{
	procedure_classes_deinit(&split->classes);
}

static int tally_images_take_profile(void *context, const struct profile *profile)
{
	const struct split *split = context;
	const struct tally *tally = split->tally;
	uint64_t sums[PROFILER_CLASSES] = {0};
	long event = tally_state_wanted(tally, profile);
	int r = event >= 0 ? procedure_classes_sum(&split->classes, profile, sums) : 0;

	for (int i = 0; r == 0 && i < PROFILER_CLASSES; i++) {
		enum profiler_class class = (enum profiler_class)i;

		if (!profiler_class_excluded(class, &tally->config.include))
			class = PROFILER_NONE;
		if (sums[i] > 0)
			tally_count_add(&split->counts[class][event], sums[i],
					tally_state_factor(tally, profile));
	}
	return r;
}

int tally_images_count(struct tally *tally, struct profile_reader *reader,
		       const struct profile_filter *filter, struct error *err)
{
	_cleanup_(split_deinit) struct split split = {.tally = tally};
	const struct tally_image *image = tally->image;
	int r = procedure_classes_init(&split.classes, tally->symbols, &image->image,
				       tally->probes);

	for (int class = 0; r == 0 && class < PROFILER_CLASSES; class ++) {
		split.counts[class] =
			tally_state_own(tally, calloc(tally->columns, sizeof(**split.counts)));
		if (split.counts[class] == NULL)
			r = -ENOMEM;
	}
	if (r == 0)
		r = profile_reader_profiles(reader, filter, tally_images_take_profile, &split, err);
	for (int class = 0; r == 0 && class < PROFILER_CLASSES; class ++) {
		struct tally_row row = {.image = image->label,
					.file = &image->image,
					.image_id = image->id,
					.identity = image->identity,
					.class = (enum profiler_class) class,
					.counts = split.counts[class]};

		r = tally_state_add_row(tally, &row);
	}
	return r == -ENOMEM ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : r;
}
