// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/matcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/clock.h"
#include "daemon/image_table.h"
#include "daemon/kernel_image.h"
#include "daemon/log.h"
#include "daemon/per_process.h"
#include "daemon/source.h"
#include "daemon/tally.h"
#include "lib/array.h"
#include "lib/error.h"
#include "loader-hook/process_scan.h"
#include "loader-hook/side_band.h"

/* Processes that no event told of are read from /proc, so many a second. */
#define SCANS_PER_SECOND 20
/* Processes that end between two expiries stay in memory: not too many. */
#define CROWD 4096

/* Whether an image is profiled by process; by number in the image table. */
enum by_process {
	BY_PROCESS_NOT_ASKED,
	BY_PROCESS_YES,
	BY_PROCESS_NO,
};

struct matcher {
	struct matcher_config config;
	struct side_band *side_band;
	struct image_table *images;
	struct image_map *map;
	struct kernel_images *kernel;
	uint8_t *by_process;
	size_t by_process_count;
	size_t by_process_capacity;
	size_t processes_expired;
	uint64_t scans;
	uint64_t scan_second;
	unsigned int scans_in_second;
};

static void event_take(void *context, const struct image_event *event)
{
	struct matcher *matcher = context;
	struct source *source = matcher->config.source;
	uint32_t generation;

	image_map_event(matcher->map, event);
	if (!event->scanned || event->type != IMAGE_EVENT_FORK || source->ops->own_generations)
		return;
	if (source->ops->generation(source, event->pid, &generation) == 0)
		image_map_set_generation(matcher->map, event->pid, generation);
}

uint64_t matcher_events(struct matcher *matcher)
{
	return side_band_drain(matcher->side_band, event_take, matcher);
}

void matcher_refresh(struct matcher *matcher)
{
	kernel_images_refresh(matcher->kernel, NULL);
}

/* Last resort for a process whose events were lost. */
static bool process_look_for(struct matcher *matcher, uint32_t pid)
{
	uint64_t second = clock_monotonic_ns() / NS_PER_SECOND;

	if (second != matcher->scan_second) {
		matcher->scan_second = second;
		matcher->scans_in_second = 0;
	}
	if (pid == 0 || matcher->scans_in_second == SCANS_PER_SECOND)
		return false;
	matcher->scans_in_second++;
	matcher->scans++;
	return process_scan(pid, event_take, matcher, NULL) == 0;
}

uint32_t matcher_generation(struct matcher *matcher, uint32_t pid, uint64_t time_ns)
{
	uint32_t generation = image_map_generation(matcher->map, pid, time_ns);

	if (generation == 0 && process_look_for(matcher, pid))
		generation = image_map_generation(matcher->map, pid, time_ns);
	return generation;
}

static bool by_process(struct matcher *matcher, uint32_t image)
{
	uint8_t *known;

	if (image >= matcher->by_process_count) {
		if (array_reserve(&matcher->by_process, &matcher->by_process_capacity,
				  (size_t)image + 1, 1) < 0)
			return false;
		memset(matcher->by_process + matcher->by_process_count, BY_PROCESS_NOT_ASKED,
		       image + 1 - matcher->by_process_count);
		matcher->by_process_count = (size_t)image + 1;
	}
	known = &matcher->by_process[image];
	if (*known == BY_PROCESS_NOT_ASKED)
		*known = per_process_match(matcher->config.per_process,
					   image_table_get(matcher->images, image)->path)
				 ? BY_PROCESS_YES
				 : BY_PROCESS_NO;
	return *known == BY_PROCESS_YES;
}

struct image_place matcher_place(struct matcher *matcher, uint64_t tag, uint64_t pc)
{
	uint32_t pid = dcpi_tag_pid(tag), generation = dcpi_tag_generation(tag);
	struct image_place place = image_map_lookup(matcher->map, pid, generation, pc);

	if (place.image == IMAGE_UNKNOWN && place.unknown == IMAGE_UNKNOWN_PROCESS &&
	    !matcher->config.source->ops->own_generations && process_look_for(matcher, pid))
		place = image_map_lookup(matcher->map, pid, generation, pc);
	return place;
}

struct match matcher_match(struct matcher *matcher, const struct dcpi_sample *sample)
{
	struct match match = {.place = matcher_place(matcher, sample->tag, sample->pc)};

	match.by_process = by_process(matcher, match.place.image);
	if (match.by_process)
		match.command = image_map_command(matcher->map, dcpi_tag_pid(sample->tag));
	return match;
}

void matcher_expire(struct matcher *matcher, uint64_t time_ns)
{
	image_map_expire(matcher->map, time_ns);
	matcher->processes_expired = image_map_processes(matcher->map, NULL);
}

bool matcher_crowded(const struct matcher *matcher)
{
	return image_map_processes(matcher->map, NULL) > matcher->processes_expired + CROWD;
}

void matcher_counters(const struct matcher *matcher, struct tally *tally)
{
	tally_set(tally, "stat", "side_band_lost", side_band_lost(matcher->side_band));
	tally_set(tally, "stat", "process_scans", matcher->scans);
}

size_t matcher_processes(const struct matcher *matcher, size_t *bytes)
{
	return image_map_processes(matcher->map, bytes);
}

struct image_table *matcher_images(struct matcher *matcher)
{
	return matcher->images;
}

struct kernel_images *matcher_kernel(struct matcher *matcher)
{
	return matcher->kernel;
}

int matcher_poll_fd(struct matcher *matcher)
{
	return side_band_poll_fd(matcher->side_band);
}

/* The kernel's images are wanted, not needed: without permission the call succeeds. */
static int kernel_open(struct matcher *matcher, struct error *err)
{
	struct error notice = {.message = ""};
	int rc = kernel_images_create(&matcher->kernel, matcher->images, matcher->map, &notice);

	if (rc < 0)
		return error_set(err, -rc, "%s", notice.message);
	if (notice.message[0] != '\0' && !matcher->config.user_only)
		log_info("%s", notice.message);
	return 0;
}

/* A target has nothing to scan yet: its address space begins with its exec. */
static int events_open(struct matcher *matcher, struct error *err)
{
	int rc = side_band_open(&matcher->side_band, matcher->config.target_pid, err);

	if (rc < 0 || matcher->config.target_pid != 0)
		return rc;
	rc = process_scan_all(event_take, matcher, err);
	return rc < 0 ? rc : 0;
}

int matcher_open(struct matcher **ret, const struct matcher_config *config, struct error *err)
{
	struct matcher *matcher = calloc(1, sizeof(*matcher));
	int rc;

	if (matcher == NULL)
		return error_set(err, ENOMEM, "out of memory");
	matcher->config = *config;
	rc = image_table_create(&matcher->images, err);
	if (rc == 0)
		rc = image_map_create(&matcher->map, matcher->images,
				      config->source->ops->own_generations, err);
	if (rc == 0)
		rc = kernel_open(matcher, err);
	if (rc == 0)
		rc = events_open(matcher, err);
	if (rc < 0) {
		matcher_close(matcher);
		return rc;
	}
	matcher->processes_expired = image_map_processes(matcher->map, NULL);
	*ret = matcher;
	return 0;
}

void matcher_close(struct matcher *matcher)
{
	if (matcher == NULL)
		return;
	side_band_close(matcher->side_band);
	kernel_images_destroy(matcher->kernel);
	image_map_destroy(matcher->map);
	image_table_destroy(matcher->images);
	free(matcher->by_process);
	free(matcher);
}
