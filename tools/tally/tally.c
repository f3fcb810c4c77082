// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/tally.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/procedure_names.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/progress.h"
#include "tools/report/image_label.h"
#include "tools/report/image_symbols.h"
#include "tools/report/profiler_class.h"
#include "tools/report/report_header.h"
#include "tools/tally/tally_images.h"
#include "tools/tally/tally_places.h"
#include "tools/tally/tally_procedures.h"

CLEANUP_DEFINE(tally, struct tally *, tally_destroy)

static struct tally_image *tally_image_of(struct tally *tally, const struct profile *profile)
{
	bool of_profiler = profile->pid == PROFILE_PID_PROFILER;
	struct tally_image *image;

	/* Profiles are ordered by image, and an image has two entries at most. */
	for (size_t i = tally->image_count; i > 0; i--) {
		image = &tally->images[i - 1];
		if (image->id != profile->image)
			break;
		if (image->of_profiler == of_profiler)
			return image;
	}
	if (array_reserve(&tally->images, &tally->image_capacity, tally->image_count + 1,
			  sizeof(*image)) < 0)
		return NULL;
	image = &tally->images[tally->image_count];
	*image = (struct tally_image){.id = profile->image, .of_profiler = of_profiler};
	image->counts = calloc(tally->columns + 1, sizeof(*image->counts));
	if (image->counts == NULL)
		return NULL;
	tally->image_count++;
	return image;
}

static int count_profile(void *context, const struct profile *profile)
{
	struct tally *tally = context;
	struct tally_image *image = tally_image_of(tally, profile);
	long event = tally_state_wanted(tally, profile);
	uint64_t sum = 0;

	if (image == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < profile->count; i++) {
		if (__builtin_add_overflow(sum, profile->samples[i].count, &sum))
			return -EBADMSG;
	}
	/* If the sum of all samples does not overflow, no partial sum does. */
	if (__builtin_add_overflow(tally->samples, sum, &tally->samples))
		return -EBADMSG;
	image->samples += sum;
	if (event >= 0) {
		tally_count_add(&image->counts[event], sum, tally_state_factor(tally, profile));
		tally_count_add(&tally->totals[event], sum, tally_state_factor(tally, profile));
	}
	return 0;
}

static int describe_image(struct tally *tally, struct profile_reader *reader,
			  struct tally_image *image, struct error *err)
{
	struct profile_image found = {0};
	int r = profile_reader_image(reader, image->id, &found, err);

	if (r == -ENOENT)
		return error_set(err, EBADMSG, ERROR_DATABASE_IMAGE);
	if (r < 0)
		return r;
	image->label = strdup(found.kind == PROFILE_IMAGE_UNKNOWN ? "unknown" : found.path);
	image->image = found;
	image->image.path = image->label; /* the reader's string becomes invalid */
	if (image->label == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	image_label_identity(&image->image, image->identity, sizeof(image->identity));
	if (image->image.kind == PROFILE_IMAGE_UNKNOWN)
		tally->unknown += image->samples;
	return 0;
}

/* Count rows that are parts of an image, while its symbols are open. */
static int tally_parts(struct tally *tally, struct profile_reader *reader,
		       const struct tally_image *image, struct error *err)
{
	struct profile_filter filter = tally->filter;
	int r = image_symbols_open(&tally->symbols, reader, image->id, &image->image,
				   &tally->config.debug, err);

	if (r < 0)
		return r;
	filter.image = image->id;
	filter.profiler = image->of_profiler ? PROFILE_PROFILER_ONLY : PROFILE_PROFILER_NOT;
	tally->image = image;
	if (tally->config.by == TALLY_BY_IMAGE)
		r = tally_images_count(tally, reader, &filter, err);
	else if (tally->config.by == TALLY_BY_PROCEDURE)
		r = tally_procedures_count(tally, reader, &filter, err);
	else
		r = tally_places_count(tally, reader, &filter, err);
	image_symbols_close(tally->symbols);
	tally->symbols = NULL;
	return r;
}

static int label_compare(const void *a, const void *b)
{
	const struct tally_image *const *x = a, *const *y = b;
	int r = strcmp((*x)->label, (*y)->label);

	return r != 0 ? r : ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

/* Distinguish two images with the same path (after an upgrade) by the beginning of the identity. */
static int add_identity_to_label(struct tally_image *image)
{
	char *label = NULL;

	if (image->identity[0] == '\0')
		return 0;
	label = image_label_make(&image->image);
	if (label == NULL)
		return -ENOMEM;
	/* The old label remains as the path by which the file is opened. */
	image->label = label;
	return 0;
}

static int label_images(struct tally *tally)
{
	_cleanup_free_ struct tally_image **sorted =
		calloc(tally->image_count + 1, sizeof(struct tally_image *));
	_cleanup_free_ bool *duplicate = calloc(tally->image_count + 1, sizeof(*duplicate));
	int r = 0;

	if (sorted == NULL || duplicate == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < tally->image_count; i++)
		sorted[i] = &tally->images[i];
	if (tally->image_count > 0)
		qsort(sorted, tally->image_count, sizeof(*sorted), label_compare);
	for (size_t i = 0, next; i < tally->image_count; i = next) {
		for (next = i + 1; next < tally->image_count &&
				   strcmp(sorted[next]->label, sorted[i]->label) == 0;
		     next++)
			;
		for (size_t k = i; sorted[next - 1]->id != sorted[i]->id && k < next; k++)
			duplicate[k] = true;
	}
	for (size_t i = 0; i < tally->image_count && r == 0; i++) {
		if (duplicate[i])
			r = add_identity_to_label(sorted[i]);
	}
	return r;
}

/*
 * Return true if the image has samples of the requested events, and its name matches the pattern.
 */
static bool has_rows(const struct tally *tally, const struct tally_image *image)
{
	const char *pattern = tally->config.image;
	bool any = false;

	for (size_t event = 0; event < tally->columns; event++)
		any |= image->counts[event].samples > 0;
	if (!any || pattern == NULL)
		return any;
	return image_label_matches(&image->image, pattern);
}

static int add_rows_of(struct tally *tally, struct profile_reader *reader,
		       const struct tally_image *image, struct error *err)
{
	struct tally_row row = {.image = image->label,
				.file = &image->image,
				.image_id = image->id,
				.identity = image->identity,
				.of_profiler = image->of_profiler};

	if (!has_rows(tally, image))
		return 0;
	row.counts = image->counts;
	if (tally->config.by != TALLY_BY_IMAGE ||
	    (!image->of_profiler &&
	     profiler_class_needs_procedures(&image->image, tally->probes, &tally->config.include)))
		return tally_parts(tally, reader, image, err);
	return tally_state_add_row(tally, &row) < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}

static int add_rows(struct tally *tally, struct profile_reader *reader, struct error *err)
{
	struct progress progress = {0};
	int r = 0;

	if (tally->config.tool != NULL)
		progress_start(&progress, tally->config.tool);
	for (size_t i = 0; i < tally->image_count && r == 0; i++) {
		progress_say(&progress, i, tally->image_count, tally->images[i].label);
		r = add_rows_of(tally, reader, &tally->images[i], err);
	}
	progress_clear(&progress);
	return r;
}

/* Mark a row of the profiler's own samples or of idle time, and exclude it unless it is included.
 */
static int classify_row(struct tally *tally, struct tally_row *row)
{
	bool by_image = tally->config.by == TALLY_BY_IMAGE;
	const char *note = tally_row_note(row);
	char *both;

	if (row->of_profiler)
		row->class = PROFILER_WHOLE;
	else if (row->class == PROFILER_NONE)
		row->class = profiler_class_of(row->file, by_image ? NULL : row->procedure,
					       tally->probes);
	if (row->class == PROFILER_NONE)
		return 0;
	if (asprintf(&both, "%s%s", note != NULL ? note : "", profiler_class_mark(row->class)) < 0)
		return -ENOMEM;
	row->note = tally_state_own(tally, both);
	if (row->note == NULL)
		return -ENOMEM;
	row->excluded = profiler_class_excluded(row->class, &tally->config.include);
	row->in_part = row->class == PROFILER_PART && !tally->config.include.profiler;
	for (size_t i = 0; row->excluded && i < tally->columns; i++) {
		struct tally_count *sum = &tally->excluded[row->class][i];

		sum->samples += row->counts[i].samples;
		sum->extra += row->counts[i].extra;
		tally->excluded_samples[row->class] += row->counts[i].samples;
	}
	return 0;
}

static int classify_rows(struct tally *tally, struct error *err)
{
	for (size_t i = 0; i < tally->row_count; i++) {
		if (classify_row(tally, &tally->rows[i]) < 0)
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	return 0;
}

static int count_all(struct tally *tally, struct profile_reader *reader, struct error *err)
{
	int r;

	err->message[0] = '\0';
	r = profile_reader_profiles(reader, &tally->filter, count_profile, tally, err);
	if (r < 0 && err->message[0] == '\0')
		return error_set(err, -r, r == -ENOMEM ? ERROR_NO_MEMORY : ERROR_DATABASE_COUNTS);
	for (size_t i = 0; r == 0 && i < tally->image_count; i++)
		r = describe_image(tally, reader, &tally->images[i], err);
	if (r == 0 && label_images(tally) < 0)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0)
		r = profiler_probes_load(&tally->probes, reader, &tally->filter, err);
	if (r == 0)
		r = add_rows(tally, reader, err);
	return r == 0 ? classify_rows(tally, err) : r;
}

int tally_create(struct tally **ret, struct profile_reader *reader,
		 const struct tally_config *config, struct error *err)
{
	_cleanup_(cleanup_tally) struct tally *tally = calloc(1, sizeof(*tally));
	int r;

	if (tally == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	tally->config = *config;
	tally->filter = config->filter;
	tally->filter.event = NULL;
	tally->filter.others_too = true;
	tally->filter.by_slice = config->times != NULL;
	tally->columns = config->event_count;
	if (config->sets != NULL || config->times != NULL)
		tally->columns *= config->sets != NULL ? config->set_count : config->time_count;
	tally->totals = calloc(tally->columns + 1, sizeof(*tally->totals));
	for (int class = 0; tally->totals != NULL && class < PROFILER_CLASSES; class ++) {
		tally->excluded[class] = calloc(tally->columns + 1, sizeof(*tally->totals));
		if (tally->excluded[class] == NULL)
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	if (tally->totals == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = count_all(tally, reader, err);
	if (r < 0)
		return r;
	*ret = take_ptr(tally);
	return 0;
}

void tally_destroy(struct tally *tally)
{
	if (tally == NULL)
		return;
	for (size_t i = 0; i < tally->owned_count; i++)
		free(tally->owned[i]);
	free(tally->owned);
	for (size_t i = 0; i < tally->name_count; i++) {
		procedure_names_deinit(tally->names[i]);
		free(tally->names[i]);
	}
	free(tally->names);
	for (size_t i = 0; i < tally->image_count; i++) {
		if (tally->images[i].image.path != tally->images[i].label)
			free((void *)(uintptr_t)tally->images[i].image.path);
		free(tally->images[i].label);
		free(tally->images[i].counts);
	}
	free(tally->rows);
	free(tally->images);
	free(tally->totals);
	for (int class = 0; class < PROFILER_CLASSES; class ++)
		free(tally->excluded[class]);
	free(tally);
}

size_t tally_row_count(const struct tally *tally)
{
	return tally->row_count;
}

struct tally_row *tally_rows(struct tally *tally)
{
	return tally->rows;
}

const struct tally_count *tally_total(const struct tally *tally, size_t event)
{
	return &tally->totals[event];
}

uint64_t tally_samples(const struct tally *tally, uint64_t *unknown)
{
	*unknown = tally->unknown;
	return tally->samples;
}

const struct tally_count *tally_excluded(const struct tally *tally, enum profiler_class class,
					 size_t event)
{
	return &tally->excluded[class][event];
}

uint64_t tally_excluded_samples(const struct tally *tally, enum profiler_class class)
{
	return tally->excluded_samples[class];
}

uint64_t tally_shared(const struct tally *tally, size_t event)
{
	return tally_count_scaled(tally_total(tally, event)) -
	       tally_count_scaled(tally_excluded(tally, PROFILER_WHOLE, event)) -
	       tally_count_scaled(tally_excluded(tally, PROFILER_IDLE, event));
}

void tally_describe(const struct tally *tally, struct report_header *header)
{
	header->samples = tally_samples(tally, &header->unknown);
	header->excluded = tally_excluded_samples(tally, PROFILER_WHOLE);
	header->idle = tally_excluded_samples(tally, PROFILER_IDLE);
}
