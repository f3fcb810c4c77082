/* SPDX-License-Identifier: GPL-2.0-only */
/* The images that have samples of time, the hottest first. */
#ifndef DCPI_CALC_IMAGES_H
#define DCPI_CALC_IMAGES_H

#include <stdbool.h>

#include "db/profile_read.h"

struct calc_events;
struct debug_file_options;
struct error;

/**
 * struct calc_image - an image
 * @image:   what it is; the path is ours
 * @samples: of time, scaled to the mean period
 * @epochs:  that have some
 */
struct calc_image {
	int64_t id;
	struct profile_image image;
	double samples;
	size_t epochs;
};

/**
 * struct calc_images - zero-initialised is empty
 * @time:    samples of time, of all images
 * @mean_period: what one of them stands for, in cycles; 0: there are none
 * @samples: of all events and processes
 * @unknown: of these, in no known image
 * @excluded: samples of time that profiling causes; the list and @time leave them out
 */
struct calc_images {
	struct calc_image *list;
	size_t count;
	size_t capacity;
	uint64_t time;
	double mean_period;
	uint64_t samples;
	uint64_t unknown;
	uint64_t excluded;
};

/**
 * calc_images_load() - add up
 * @images: zero-initialised; freed by calc_images_deinit(), also after a failure
 * @filter: epochs and process; other fields are not looked at
 * @exclude: leave out samples of time that profiling causes, and use these options to find the
 *          symbols that show it; NULL: keep all samples
 *
 * Return: 0, -ENOMEM, -EBADMSG, or the reader's error.
 */
int calc_images_load(struct calc_images *images, struct profile_reader *reader,
		     const struct profile_filter *filter, const struct calc_events *events,
		     const struct debug_file_options *exclude, struct error *err);

void calc_images_deinit(struct calc_images *images);

/** calc_image_matches() - whether a pattern asks for it: image_label_matches(). */
bool calc_image_matches(const struct calc_image *image, const char *pattern);

#endif
