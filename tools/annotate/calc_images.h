/* SPDX-License-Identifier: GPL-2.0-only */
/* The images that have samples of time, in descending order of samples. */
#ifndef DCPI_CALC_IMAGES_H
#define DCPI_CALC_IMAGES_H

#include <stdbool.h>

#include "db/profile_read.h"
#include "tools/report/profiler_class.h"

struct calc_events;
struct debug_file_options;
struct error;

/** enum calc_profiler_use - use of the samples of time that shares exclude */
enum calc_profiler_use {
	CALC_PROFILER_INCLUDED,
	CALC_PROFILER_NO_SHARE, /* in the images, not in @time, which shares are of */
	CALC_PROFILER_REMOVED,
};

/**
 * struct calc_image - an image
 * @image:   its description; this structure owns the path
 * @samples: of time, scaled to the mean period; @excluded: removed from them
 * @epochs:  number of epochs with samples of it
 */
struct calc_image {
	int64_t id;
	struct profile_image image;
	double samples;
	double excluded;
	size_t epochs;
};

/**
 * struct calc_images - zero-initialised: empty
 * @time:        samples of time, of all images, which shares are of
 * @mean_period: cycles that a sample of @time stands for; 0: no samples
 * @samples:     of all events and processes
 * @unknown:     those of @samples in no known image
 * @excluded:    those of @samples that profiling causes, unless they are included; @idle: those in
 *               which a CPU has no work, unless they are included
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
	uint64_t idle;
};

/**
 * calc_images_load() - sum the samples by image
 * @images:  zero-initialised; freed by calc_images_deinit(), also after a failure
 * @filter:  epochs and process; other fields are ignored
 * @use:     of samples that shares exclude; @include: classes that they include
 * @debug:   locates the symbols by which such samples are found
 *
 * Return: 0, -ENOMEM, -EBADMSG, or the reader's error.
 */
int calc_images_load(struct calc_images *images, struct profile_reader *reader,
		     const struct profile_filter *filter, const struct calc_events *events,
		     enum calc_profiler_use use, const struct included_samples *include,
		     const struct debug_file_options *debug, struct error *err);

void calc_images_deinit(struct calc_images *images);

/** calc_image_matches() - return true if a pattern selects the image: image_label_matches() */
bool calc_image_matches(const struct calc_image *image, const char *pattern);

#endif
