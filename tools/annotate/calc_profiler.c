// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_profiler.h"

#include <errno.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/annotate/calc_events.h"
#include "tools/report/image_symbols.h"
#include "tools/report/procedure_classes.h"

/*
 * struct own_walk - state of a walk over the profiles of an image
 * @classes: of its procedures; NULL: all samples are the profiler's
 */
struct own_walk {
	const struct calc_profiler *profiler;
	const struct procedure_classes *classes;
	struct calc_profiler_samples *sum;
};

static int take_own_samples(void *context, const struct profile *profile)
{
	const struct own_walk *walk = context;
	const struct calc_event *event =
		calc_events_find(walk->profiler->events, profile->epoch, profile->event);
	const struct included_samples *include = &walk->profiler->include;
	uint64_t sums[PROFILER_CLASSES] = {0}, own, idle;
	int r = 0;

	if (walk->classes == NULL)
		sums[PROFILER_WHOLE] = profile->total;
	else
		r = procedure_classes_sum(walk->classes, profile, sums);
	if (r < 0)
		return r;
	own = include->profiler ? 0 : sums[PROFILER_WHOLE];
	idle = include->idle ? 0 : sums[PROFILER_IDLE];
	walk->sum->own += own;
	walk->sum->idle += idle;
	if (event == NULL || event->role != CALC_EVENT_TIME)
		return 0;
	walk->sum->samples += own + idle;
	walk->sum->cycles += (double)(own + idle) * event->period;
	return 0;
}

int calc_profiler_count(const struct calc_profiler *profiler, int64_t id,
			const struct profile_image *image, struct calc_profiler_samples *ret,
			struct error *err)
{
	_cleanup_(procedure_classes_deinit) struct procedure_classes classes = {.image = NULL};
	struct own_walk walk = {.profiler = profiler, .sum = ret};
	struct profile_filter filter = *profiler->filter;
	enum profiler_class class = profiler_class_of(image, NULL, profiler->probes);
	struct image_symbols *symbols = NULL;
	int r = 0;

	filter.image = id;
	filter.event = NULL;
	filter.profiler = PROFILE_PROFILER_NOT; /* the caller counts the others */
	err->message[0] = '\0';
	if (!profiler_class_excluded(class, &profiler->include)) {
		if (!profiler_class_needs_procedures(image, profiler->probes, &profiler->include))
			return 0;
		walk.classes = &classes;
		r = image_symbols_open(&symbols, profiler->reader, id, image, profiler->debug, err);
		if (r == 0)
			r = procedure_classes_init(&classes, symbols, image, profiler->probes);
	}
	if (r == 0)
		r = profile_reader_profiles(profiler->reader, &filter, take_own_samples, &walk,
					    err);
	image_symbols_close(symbols);
	if (r < 0 && err->message[0] == '\0')
		error_set(err, -r, ERROR_NO_MEMORY);
	return r;
}
