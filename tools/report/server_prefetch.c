// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/server_prefetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/image_lookup.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "tools/base/progress.h"
#include "tools/report/image_label.h"

struct sampled_image {
	int64_t id;
	uint64_t samples;
};

/* The images of the report; profiles come ordered by image. */
struct prefetch {
	struct sampled_image *images;
	size_t count;
	size_t capacity;
	struct debug_server_request *requests;
	size_t request_count;
	size_t request_capacity;
};

static struct {
	const struct cli *cli;
	struct progress progress;
} listening;

static void prefetch_deinit(struct prefetch *prefetch)
{
	free(prefetch->images);
	free(prefetch->requests);
}

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

static int add_profile(void *context, const struct profile *profile)
{
	struct prefetch *prefetch = context;
	struct sampled_image *last = prefetch->images + prefetch->count;

	if (prefetch->count > 0 && last[-1].id == profile->image) {
		last[-1].samples += profile->total;
		return 0;
	}
	if (array_reserve(&prefetch->images, &prefetch->capacity, prefetch->count + 1,
			  sizeof(*prefetch->images)) < 0)
		return -ENOMEM;
	prefetch->images[prefetch->count++] =
		(struct sampled_image){profile->image, profile->total};
	return 0;
}

static int prefetch_by_samples(const void *a, const void *b)
{
	const struct sampled_image *x = a, *y = b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

static int add_requests(struct prefetch *prefetch, const struct cli *cli,
			const struct profile_image *image)
{
	struct debug_server_request requests[2] = {0};
	size_t count;

	if (image->kind != PROFILE_IMAGE_FILE ||
	    (cli->image != NULL && !image_label_matches(image, cli->image)))
		return 0;
	count = image_lookup_wanted(requests, image, &cli->debug);
	if (array_reserve(&prefetch->requests, &prefetch->request_capacity,
			  prefetch->request_count + 2, sizeof(*prefetch->requests)) < 0)
		return -ENOMEM;
	memcpy(prefetch->requests + prefetch->request_count, requests, count * sizeof(*requests));
	prefetch->request_count += count;
	return 0;
}

int server_prefetch(const struct cli *cli, struct profile_reader *reader, struct error *err)
{
	_cleanup_(prefetch_deinit) struct prefetch prefetch = {0};
	int r;

	if (!cli->debug.debuginfod)
		return 0;
	r = profile_reader_totals(reader, &cli->filter, add_profile, &prefetch, err);
	if (prefetch.count > 0)
		qsort(prefetch.images, prefetch.count, sizeof(*prefetch.images),
		      prefetch_by_samples);
	for (size_t i = 0; r == 0 && i < prefetch.count; i++) {
		struct profile_image image;

		r = profile_reader_image(reader, prefetch.images[i].id, &image, err);
		if (r == 0 && add_requests(&prefetch, cli, &image) < 0)
			r = error_set(err, ENOMEM, "out of memory");
	}
	if (r == 0)
		debug_server_fetch(prefetch.requests, prefetch.request_count);
	return r;
}
