// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/recording_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/report/cli.h"
#include "tools/report/image_label.h"

static int note_times(void *context, const struct profile_epoch *epoch)
{
	struct recording_source *source = context;

	if (source->epochs == 0 || epoch->start_ns < source->start_ns)
		source->start_ns = epoch->start_ns;
	if (source->epochs == 0 || epoch->end_ns > source->end_ns)
		source->end_ns = epoch->end_ns;
	source->epochs++;
	return 0;
}

static void note_build_id(struct recording_source *source, const struct profile_image *image)
{
	size_t bytes;
	const uint8_t *id = profile_image_build_id(image, &bytes);

	for (size_t i = 0; i < bytes && 2 * i + 3 <= sizeof(source->build_id); i++)
		snprintf(source->build_id + 2 * i, 3, "%02x", id[i]);
}

static const char *const mode_names[PROFILE_RECORDING_MODES] = {
	[PROFILE_RECORDING_PATHS] = "paths",	       [PROFILE_RECORDING_CALLS] = "calls",
	[PROFILE_RECORDING_CONTEXT] = "contexts",      [PROFILE_RECORDING_BURSTS] = "bursts",
	[PROFILE_RECORDING_VARIATION] = "variation",   [PROFILE_RECORDING_PAIRS] = "pairs",
	[PROFILE_RECORDING_FOOTPRINTS] = "footprints", [PROFILE_RECORDING_STACKS] = "stacks",
	[PROFILE_RECORDING_OFF_CPU] = "off-CPU time",  [PROFILE_RECORDING_THREADS] = "threads",
	[PROFILE_RECORDING_DATA] = "regions of data",
};

/* State of a walk; @err receives the errors. */
struct visit {
	struct recording_source *source;
	struct error *err;
	profile_recording_fn visit;
	void *context;
};

/* Use the first image that matches; a second one ends the search with an error. */
static int find_image(void *context, const struct profile_recording *recording)
{
	const struct visit *visit = context;
	struct recording_source *source = visit->source;
	const struct profile_filter filter = {.epochs = &recording->epoch, .epoch_count = 1};
	const struct cli *cli = source->cli;
	struct profile_image image;
	int r;

	if (source->image == 0 || source->image != recording->image) {
		r = profile_reader_image(source->reader, recording->image, &image, visit->err);
		if (r < 0 || (cli->image != NULL && !image_label_matches(&image, cli->image)))
			return r;
		if (source->image != 0)
			return error_set(visit->err, EINVAL,
					 "'%s' has %s of several programs: select one with --image",
					 cli->database, mode_names[source->mode]);
		source->image = recording->image;
		source->path = strdup(image.path);
		note_build_id(source, &image);
		if (source->path == NULL)
			return error_set(visit->err, ENOMEM, ERROR_NO_MEMORY);
	}
	return profile_reader_epochs(source->reader, &filter, note_times, source, visit->err);
}

int recording_source_open(struct recording_source *source, struct cli *cli,
			  enum profile_recording_mode mode, struct error *err)
{
	struct visit visit = {.source = source, .err = err};
	int r;

	*source = (struct recording_source){.cli = cli, .mode = mode};
	r = cli_open(cli, &source->reader, err);
	if (r == 0)
		r = profile_reader_recordings(source->reader, &cli->filter, (int)mode, find_image,
					      &visit, err);
	if (r == 0 && source->image == 0)
		return error_set(err, ENOENT, "no %s%s%s in '%s'", mode_names[mode],
				 cli->image != NULL ? " of " : "",
				 cli->image != NULL ? cli->image : "", cli->database);
	return r;
}

static int visit_one(void *context, const struct profile_recording *recording)
{
	const struct visit *visit = context;
	int r = visit->visit(visit->context, recording);

	switch (r) {
	case -ENOMEM:
		return error_set(visit->err, ENOMEM, ERROR_NO_MEMORY);
	case -EBADMSG:
		return error_set(visit->err, EBADMSG, "'%s' is damaged: %s of '%s'",
				 visit->source->cli->database, mode_names[visit->source->mode],
				 visit->source->path);
	case -EINVAL:
		return error_set(visit->err, EINVAL,
				 "epochs of '%s' differ in the quantity measured, or in other "
				 "options of dcpix: select epochs with --epoch",
				 visit->source->path);
	}
	return r;
}

int recording_source_visit(struct recording_source *source, profile_recording_fn visit,
			   void *context, struct error *err)
{
	struct visit each = {source, err, visit, context};
	struct profile_filter filter = source->cli->filter;

	filter.image = source->image;
	return profile_reader_recordings(source->reader, &filter, (int)source->mode, visit_one,
					 &each, err);
}

void recording_source_close(struct recording_source *source)
{
	profile_reader_close(source->reader);
	free(source->path);
	*source = (struct recording_source){.reader = NULL};
}
