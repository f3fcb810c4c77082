// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fake_matcher.h"

#include <stdio.h>

#include "daemon/collect/label_table.h"
#include "daemon/collect/matcher.h"
#include "daemon/image/image_table.h"
#include "daemon/image/quota.h"
#include "kmod/uapi/dcpi_uapi.h"

static struct image_table *images;
static struct match_cache cache;

int matcher_open(struct matcher **ret, const struct matcher_config *config, struct error *err)
{
	int i, rc;

	(void)config;
	*ret = NULL;
	match_cache_forget(&cache);
	rc = image_table_create(&images, err);
	for (i = 1; rc >= 0 && i <= FAKE_IMAGES; i++) {
		struct profile_image image = {
			.kind = PROFILE_IMAGE_FILE,
			.identity_kind = PROFILE_IDENTITY_BUILD_ID,
			.identity_bytes = 1,
			.identity = {(uint8_t)i},
		};
		char path[64];

		snprintf(path, sizeof(path), "/usr/lib/image-%d.so", i);
		image.path = path;
		rc = image_table_add(images, &image);
	}
	return rc < 0 ? rc : 0;
}

bool matcher_scanning(const struct matcher *matcher)
{
	(void)matcher;
	return false;
}

const struct quota *matcher_quota(const struct matcher *matcher)
{
	static const struct quota none;

	(void)matcher;
	return &none;
}

void matcher_close(struct matcher *matcher)
{
	(void)matcher;
	image_table_destroy(images);
	images = NULL;
}

void matcher_describe(const struct matcher *matcher, char *text, size_t bytes)
{
	(void)matcher;
	snprintf(text, bytes, "; image events: none");
}

int matcher_poll_fd(struct matcher *matcher)
{
	(void)matcher;
	return -1;
}

uint64_t matcher_events(struct matcher *matcher)
{
	(void)matcher;
	return UINT64_MAX;
}

void matcher_refresh(struct matcher *matcher)
{
	(void)matcher;
}

uint32_t matcher_generation(struct matcher *matcher, uint32_t pid, uint64_t time_ns)
{
	(void)matcher;
	(void)time_ns;
	return pid;
}

uint32_t matcher_changes(const struct matcher *matcher, uint32_t pid, uint64_t *since_ns)
{
	(void)matcher;
	(void)pid;
	*since_ns = 0;
	return 0;
}

struct image_place matcher_place(struct matcher *matcher, uint64_t tag, uint64_t pc)
{
	struct image_place place = {.image = (uint32_t)(pc >> 32 & 0xffff)};

	(void)matcher;
	(void)tag;
	if (pc >> 48 != 0)
		place.image = 1; /* an offset outside every file */
	if (place.image > FAKE_IMAGES)
		place.image = IMAGE_UNKNOWN;
	if (place.image == IMAGE_UNKNOWN)
		place.unknown = IMAGE_UNKNOWN_ADDRESS;
	else
		place.offset = pc >> 48 != 0 ? pc : pc & UINT32_MAX;
	return place;
}

/* A match of a known image never expires. */
struct match *matcher_match(struct matcher *matcher, const struct dcpi_sample *sample)
{
	struct match *match = match_cache_find(&cache, sample);
	struct image_place place = matcher_place(matcher, sample->tag, sample->pc);
	uint64_t offset = place.image == IMAGE_UNKNOWN ? (uint64_t)place.unknown : place.offset;

	if (match != NULL)
		return match;
	match = match_cache_place(&cache, sample);
	*match = (struct match){
		.who = match_cache_who(&cache, sample),
		.version = *match_cache_version(&cache, dcpi_tag_pid(sample->tag)),
		.start = sample->pc & ~(uint64_t)UINT32_MAX,
		.bytes = place.image == IMAGE_UNKNOWN ? 0 : 1ULL << 32,
		.image = place.image,
		.delta = offset - sample->pc,
		.owner = PROFILE_PID_ALL,
	};
	return match;
}

uint32_t matcher_label(struct matcher *matcher, uint32_t pid)
{
	(void)matcher;
	(void)pid;
	return LABEL_NONE;
}

const char *matcher_command(const struct matcher *matcher, uint32_t pid)
{
	(void)matcher;
	(void)pid;
	return "";
}

struct match_cache *matcher_cache(struct matcher *matcher)
{
	(void)matcher;
	return &cache;
}

const struct label_table *matcher_labels(const struct matcher *matcher)
{
	(void)matcher;
	return NULL;
}

void matcher_divide(struct matcher *matcher)
{
	(void)matcher;
}

void matcher_epoch(struct matcher *matcher)
{
	(void)matcher;
}

void matcher_expire(struct matcher *matcher, uint64_t time_ns)
{
	(void)matcher;
	(void)time_ns;
}

bool matcher_crowded(const struct matcher *matcher)
{
	(void)matcher;
	return false;
}

void matcher_counters(const struct matcher *matcher, struct tally *tally)
{
	(void)matcher;
	(void)tally;
}

size_t matcher_processes(const struct matcher *matcher, size_t *bytes)
{
	(void)matcher;
	*bytes = 0;
	return 0;
}

struct image_table *matcher_images(struct matcher *matcher)
{
	(void)matcher;
	return images;
}

bool matcher_unsettled(const struct matcher *matcher)
{
	(void)matcher;
	return false;
}

struct jit_images *matcher_jit(struct matcher *matcher)
{
	(void)matcher;
	return NULL;
}

struct kernel_images *matcher_kernel(struct matcher *matcher)
{
	(void)matcher;
	return NULL;
}
