// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/annotate/calc_events.h"
#include "tools/annotate/calc_profile.h"
#include "tools/annotate/calc_profiler.h"
#include "tools/report/image_label.h"

struct load {
	struct calc_images *images;
	const struct calc_events *events;
	uint64_t *all; /* samples of each image, of all events */
	size_t all_capacity;
	enum calc_profiler_use use;
	int64_t last_epoch; /* of the last image */
	double cycles;	    /* cycles that samples of time stand for */
};

static struct calc_image *calc_images_image_of(struct load *load, int64_t id)
{
	struct calc_images *images = load->images;

	/* Profiles are ordered by image. */
	if (images->count > 0 && images->list[images->count - 1].id == id)
		return &images->list[images->count - 1];
	if (array_reserve(&images->list, &images->capacity, images->count + 1,
			  sizeof(*images->list)) < 0 ||
	    array_reserve(&load->all, &load->all_capacity, images->count + 1, sizeof(*load->all)) <
		    0)
		return NULL;
	images->list[images->count] = (struct calc_image){.id = id};
	load->all[images->count] = 0;
	load->last_epoch = 0;
	return &images->list[images->count++];
}

static int calc_images_take_profile(void *context, const struct profile *profile)
{
	struct load *load = context;
	const struct calc_event *event =
		calc_events_find(load->events, profile->epoch, profile->event);
	struct calc_image *image = calc_images_image_of(load, profile->image);

	if (image == NULL)
		return -ENOMEM;
	/* If the sum of all samples does not overflow, no partial sum does. */
	if (__builtin_add_overflow(load->images->samples, profile->total, &load->images->samples))
		return -EBADMSG;
	load->all[image - load->images->list] += profile->total;
	if (profile->pid == PROFILE_PID_PROFILER && load->use != CALC_PROFILER_INCLUDED) {
		load->images->excluded += profile->total;
		return 0;
	}
	if (event != NULL && event->role == CALC_EVENT_TIME && profile->chosen) {
		double cycles = (double)profile->total * event->period;

		image->samples += load->events->periods_differ ? cycles : (double)profile->total;
		image->epochs += profile->epoch != load->last_epoch;
		load->last_epoch = profile->epoch;
		load->cycles += cycles;
		load->images->time += profile->total;
	}
	return 0;
}

static int calc_images_describe(struct calc_image *image, struct profile_reader *reader,
				struct error *err)
{
	int r = profile_reader_image(reader, image->id, &image->image, err);

	image->image.path = r == 0 ? strdup(image->image.path) : NULL;
	if (r == -ENOENT)
		return error_set(err, EBADMSG, ERROR_DATABASE_IMAGE);
	if (r == 0 && image->image.path == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return r;
}

static int hottest_first(const void *a, const void *b)
{
	const struct calc_image *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int exclude_own(struct load *load, const struct calc_profiler *profiler,
		       struct calc_image *image, struct error *err)
{
	struct calc_profiler_samples own = {0};
	int r = calc_profiler_count(profiler, image->id, &image->image, &own, err);

	if (r == 0 && own.samples > load->images->time)
		return error_set(err, EBADMSG, ERROR_DATABASE_COUNTS);
	if (r < 0)
		return r;
	if (load->use == CALC_PROFILER_REMOVED)
		image->excluded = load->events->periods_differ ? own.cycles : (double)own.samples;
	image->samples -= image->excluded;
	load->cycles -= own.cycles;
	load->images->time -= own.samples;
	load->images->excluded += own.own;
	load->images->idle += own.idle;
	return 0;
}

/* Keep only the images with samples of time. */
static void keep_sampled(struct load *load)
{
	struct calc_images *images = load->images;
	size_t kept = 0;

	if (images->time > 0)
		images->mean_period = load->cycles / (double)images->time;
	for (size_t i = 0; i < images->count; i++) {
		struct calc_image image = images->list[i];

		if (load->events->periods_differ && image.samples > 0) {
			image.samples /= images->mean_period;
			image.excluded /= images->mean_period;
		}
		if (image.image.kind == PROFILE_IMAGE_UNKNOWN)
			images->unknown += load->all[i];
		if (image.samples > 0)
			images->list[kept++] = image;
		else
			free((void *)(uintptr_t)image.image.path);
	}
	images->count = kept;
	if (kept > 0)
		qsort(images->list, kept, sizeof(*images->list), hottest_first);
}

/* @profiler: finds the samples that profiling causes. */
static int images_settle(struct load *load, struct profile_reader *reader,
			 const struct calc_profiler *profiler, struct error *err)
{
	struct calc_images *images = load->images;
	int r = 0;

	for (size_t i = 0; i < images->count && r == 0; i++) {
		r = calc_images_describe(&images->list[i], reader, err);
		if (r == 0 && load->use != CALC_PROFILER_INCLUDED)
			r = exclude_own(load, profiler, &images->list[i], err);
	}
	if (r == 0)
		keep_sampled(load);
	return r;
}

int calc_images_load(struct calc_images *images, struct profile_reader *reader,
		     const struct profile_filter *filter, const struct calc_events *events,
		     enum calc_profiler_use use, const struct included_samples *include,
		     const struct debug_file_options *debug, struct error *err)
{
	struct load load = {.images = images, .events = events, .use = use};
	struct calc_profiler profiler = {reader,  filter, events, debug, PROFILER_PROBES_NONE,
					 *include};
	struct profile_filter all = *filter;
	int r;

	all.others_too = true;
	all.event = NULL;
	all.image = 0;
	err->message[0] = '\0';
	r = profile_reader_totals(reader, &all, calc_images_take_profile, &load, err);
	if (r == 0 && use != CALC_PROFILER_INCLUDED)
		r = profiler_probes_load(&profiler.probes, reader, filter, err);
	if (r == 0)
		r = images_settle(&load, reader, &profiler, err);
	free(load.all);
	if (r < 0 && err->message[0] == '\0')
		return error_set(err, -r, r == -ENOMEM ? ERROR_NO_MEMORY : ERROR_DATABASE_COUNTS);
	return r;
}

void calc_images_deinit(struct calc_images *images)
{
	for (size_t i = 0; i < images->count; i++)
		free((void *)(uintptr_t)images->list[i].image.path);
	free(images->list);
	*images = (struct calc_images){0};
}

bool calc_image_matches(const struct calc_image *image, const char *pattern)
{
	return image_label_matches(&image->image, pattern);
}
