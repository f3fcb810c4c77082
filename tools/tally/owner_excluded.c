// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/owner_excluded.h"

#include <errno.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "tools/report/event_scale.h"
#include "tools/report/image_symbols.h"

/* Move samples of a class from a row to the excluded ones. */
static void exclude(struct owner_tally *tally, struct owner *owner, enum profiler_class class,
		    long event, uint64_t samples, double factor)
{
	struct tally_count *counts = &owner->row.counts[event];

	if (samples > counts->samples)
		samples = counts->samples;
	counts->samples -= samples;
	counts->extra = counts->samples > 0 ? counts->extra - (double)samples * (factor - 1) : 0;
	tally_count_add(&tally->excluded[class][event], samples, factor);
}

static int owner_excluded_take_profile(void *context, const struct profile *profile)
{
	struct owner_tally *tally = context;
	double factor = event_scale_factor(tally->config.scale, profile->epoch, profile->event);
	long event = owner_tally_event(tally, profile->event_name);
	uint64_t sums[PROFILER_CLASSES] = {0};
	struct owner *owner;
	int r = event >= 0 ? owner_tally_find(tally, profile, &owner) : 0;

	if (r < 0 || event < 0 || owner == NULL)
		return r;
	if (procedure_classes_sum(&tally->classes, profile, sums) < 0)
		return owner_tally_no_memory(tally);
	for (int i = 0; i < PROFILER_CLASSES; i++) {
		enum profiler_class class = (enum profiler_class)i;

		/* Only the idle task is known to have no label. */
		if (owner_tally_has_labels(tally->config.by) && class != PROFILER_IDLE)
			continue;
		if (sums[i] > 0 && profiler_class_excluded(class, &tally->config.include))
			exclude(tally, owner, class, event, sums[i], factor);
	}
	return 0;
}

/* Exclude the samples of some procedures of an image. */
static int exclude_procedures(struct owner_tally *tally, int64_t id,
			      const struct profile_image *image)
{
	struct profile_filter filter = tally->config.filter;
	struct image_symbols *symbols = NULL;
	int r = image_symbols_open(&symbols, tally->reader, id, image, &tally->config.debug,
				   tally->err);

	filter.event = NULL;
	filter.others_too = true;
	filter.image = id;
	/* Samples of the profiler's processes are in no row. */
	if (!tally->config.include.profiler)
		filter.profiler = PROFILE_PROFILER_NOT;
	if (r == 0 && procedure_classes_init(&tally->classes, symbols, image, tally->probes) < 0)
		r = owner_tally_no_memory(tally);
	if (r == 0)
		r = profile_reader_profiles(tally->reader, &filter, owner_excluded_take_profile,
					    tally, tally->err);
	procedure_classes_deinit(&tally->classes);
	image_symbols_close(symbols);
	return r;
}

/* Exclude procedures of all images that have rows. */
int owner_excluded_count(struct owner_tally *tally)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < tally->image_count; i++) {
		_cleanup_free_ char *path = NULL;
		struct profile_image image;

		r = profile_reader_image(tally->reader, tally->images[i], &image, tally->err);
		if (r < 0 ||
		    !profiler_class_needs_procedures(&image, tally->probes, &tally->config.include))
			continue;
		image.path = path = strdup(image.path); /* the reader's becomes invalid */
		r = path != NULL ? exclude_procedures(tally, tally->images[i], &image)
				 : owner_tally_no_memory(tally);
	}
	return r;
}
