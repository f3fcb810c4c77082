// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_profiler.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/annotate/calc_events.h"
#include "tools/report/image_symbols.h"

/* Classes of a procedure. */
enum {
	OWN_UNKNOWN,
	OWN_YES,
	OWN_NO,
};

/*
 * struct own_walk - state of a walk over the profiles of an image
 * @symbols: of the image; NULL: all samples are the profiler's
 * @own:     class by procedure
 */
struct own_walk {
	const struct calc_profiler *profiler;
	const struct profile_image *image;
	struct image_symbols *symbols;
	unsigned char *own;
	struct calc_profiler_samples *sum;
};

/* Return: OWN_YES, OWN_NO or -ENOMEM */
static int classify(const struct own_walk *walk, uint64_t offset)
{
	size_t index = image_symbols_find(walk->symbols, offset);
	_cleanup_free_ char *name = NULL;
	uint64_t address;
	bool has_address;

	if (walk->own[index] != OWN_UNKNOWN)
		return walk->own[index];
	name = image_symbols_name(walk->symbols, index, false, &address, &has_address);
	if (name == NULL)
		return -ENOMEM;
	walk->own[index] =
		profiler_class_of(walk->image, name, walk->profiler->probes) == PROFILER_WHOLE
			? OWN_YES
			: OWN_NO;
	return walk->own[index];
}

static int take_own_samples(void *context, const struct profile *profile)
{
	const struct own_walk *walk = context;
	const struct calc_event *event =
		calc_events_find(walk->profiler->events, profile->epoch, profile->event);
	uint64_t samples = walk->symbols == NULL ? profile->total : 0;

	for (size_t i = 0; walk->symbols != NULL && i < profile->count; i++) {
		int own = classify(walk, profile->samples[i].offset);

		if (own < 0)
			return own;
		if (own == OWN_YES)
			samples += profile->samples[i].count;
	}
	walk->sum->all += samples;
	if (event == NULL || event->role != CALC_EVENT_TIME)
		return 0;
	walk->sum->samples += samples;
	walk->sum->cycles += (double)samples * event->period;
	return 0;
}

static int load_symbols(struct own_walk *walk, int64_t id, struct error *err)
{
	const struct calc_profiler *profiler = walk->profiler;
	int r = image_symbols_open(&walk->symbols, profiler->reader, id, walk->image,
				   profiler->debug, err);

	if (r < 0)
		return r;
	walk->own = calloc(image_symbols_count(walk->symbols), sizeof(*walk->own));
	return walk->own != NULL ? 0 : error_set(err, ENOMEM, ERROR_NO_MEMORY);
}

int calc_profiler_count(const struct calc_profiler *profiler, int64_t id,
			const struct profile_image *image, struct calc_profiler_samples *ret,
			struct error *err)
{
	struct own_walk walk = {.profiler = profiler, .image = image, .sum = ret};
	struct profile_filter filter = *profiler->filter;
	bool whole = profiler_class_of(image, NULL, profiler->probes) == PROFILER_WHOLE;
	int r = 0;

	if (!whole && !profiler_class_needs_procedures(image, profiler->probes))
		return 0;
	filter.image = id;
	filter.event = NULL;
	filter.profiler = PROFILE_PROFILER_NOT; /* the caller counts the others */
	if (!whole)
		r = load_symbols(&walk, id, err);
	if (r == 0) {
		err->message[0] = '\0';
		r = profile_reader_profiles(profiler->reader, &filter, take_own_samples, &walk,
					    err);
	}
	if (r < 0 && err->message[0] == '\0')
		error_set(err, -r, ERROR_NO_MEMORY);
	image_symbols_close(walk.symbols);
	free(walk.own);
	return r;
}
