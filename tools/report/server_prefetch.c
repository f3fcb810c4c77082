// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/server_prefetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/image_lookup.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/progress.h"
#include "tools/report/image_label.h"

struct wanted_file {
	struct debug_server_request request;
	uint64_t samples; /* of the image */
};

/* State of a walk over the profiles of a database, which are ordered by image. */
struct profile_walk {
	struct server_prefetch *prefetch;
	struct profile_reader *reader;
	const struct debug_file_options *debug;
	const char *pattern;
	int64_t image; /* 0: none yet */
	uint64_t samples;
	struct error *err;
};

static struct {
	const struct cli *cli;
	struct progress progress;
} listening;

static void server_failed(void *context, const char *message)
{
	struct error err;

	(void)context;
	progress_clear(&listening.progress);
	error_set(&err, EIO, "%s", message);
	cli_fail(listening.cli, &err);
}

static void server_progress(void *context, size_t done, size_t all)
{
	(void)context;
	progress_say(&listening.progress, done, all, "debuginfod");
}

static void server_end(void *context)
{
	(void)context;
	progress_clear(&listening.progress);
}

void server_prefetch_listen(const struct cli *cli)
{
	static const struct debug_server_listener listener = {
		.failed = server_failed, .progress = server_progress, .end = server_end};

	listening.cli = cli;
	progress_start(&listening.progress, cli->tool);
	debug_server_listen(&listener);
}

void server_prefetch_deinit(struct server_prefetch *prefetch)
{
	free(prefetch->files);
	*prefetch = (struct server_prefetch){0};
}

int server_prefetch_add(struct server_prefetch *prefetch, const struct profile_image *image,
			uint64_t samples, const struct debug_file_options *debug)
{
	struct debug_server_request requests[2] = {0};
	size_t count;

	if (!debug->debuginfod || image->kind != PROFILE_IMAGE_FILE)
		return 0;
	count = image_lookup_wanted(requests, image, debug);
	if (array_reserve(&prefetch->files, &prefetch->capacity, prefetch->count + count,
			  sizeof(*prefetch->files)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		prefetch->files[prefetch->count++] = (struct wanted_file){requests[i], samples};
	return 0;
}

/* Add the files of the image whose profiles have been visited. */
static int add_walked(struct profile_walk *walk)
{
	struct profile_image image;
	int r;

	if (walk->image == 0)
		return 0;
	r = profile_reader_image(walk->reader, walk->image, &image, walk->err);
	if (r < 0 || (walk->pattern != NULL && !image_label_matches(&image, walk->pattern)))
		return r;
	if (server_prefetch_add(walk->prefetch, &image, walk->samples, walk->debug) < 0)
		return error_set(walk->err, ENOMEM, ERROR_NO_MEMORY);
	return 0;
}

static int walk_profile(void *context, const struct profile *profile)
{
	struct profile_walk *walk = context;
	int r;

	if (profile->image == walk->image) {
		walk->samples += profile->total;
		return 0;
	}
	r = add_walked(walk);
	walk->image = profile->image;
	walk->samples = profile->total;
	return r;
}

int server_prefetch_add_all(struct server_prefetch *prefetch, struct profile_reader *reader,
			    const struct profile_filter *filter, const char *pattern,
			    const struct debug_file_options *debug, struct error *err)
{
	struct profile_walk walk = {.prefetch = prefetch,
				    .reader = reader,
				    .debug = debug,
				    .pattern = pattern,
				    .err = err};
	int r;

	if (!debug->debuginfod)
		return 0;
	r = profile_reader_totals(reader, filter, walk_profile, &walk, err);
	return r == 0 ? add_walked(&walk) : r;
}

static int wanted_by_samples(const void *a, const void *b)
{
	const struct wanted_file *x = a, *y = b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

int server_prefetch_run(const struct server_prefetch *prefetch)
{
	_cleanup_free_ struct debug_server_request *requests =
		calloc(prefetch->count + 1, sizeof(*requests));

	if (requests == NULL)
		return -ENOMEM;
	if (prefetch->count > 0)
		qsort(prefetch->files, prefetch->count, sizeof(*prefetch->files),
		      wanted_by_samples);
	for (size_t i = 0; i < prefetch->count; i++)
		requests[i] = prefetch->files[i].request;
	if (prefetch->count > 0)
		debug_server_fetch(requests, prefetch->count);
	return 0;
}
