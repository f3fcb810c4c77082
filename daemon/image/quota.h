/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits for each user of the machine on the daemon's CPU time and memory.
 *
 * A user is a uid; see loader-hook/proc/process_owner.h for processes in containers. Root has no
 * limits. A user that reaches a limit loses only samples of that user's own processes. These
 * samples are counted under the name of the limit.
 *
 * Work is measured in points of about a microsecond of CPU time. A user has QUOTA_POINTS_MAX of
 * them and gets QUOTA_POINTS_PER_SECOND back.
 */
#ifndef DCPI_QUOTA_H
#define DCPI_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/u64_map.h"

/* Two percent of a CPU. */
#define QUOTA_POINTS_PER_SECOND 20000
/* The maximum that an idle user accumulates, unless struct quota has another one. */
#define QUOTA_POINTS_MAX 100000

/* Images that processes of one user were the first to map, */
#define QUOTA_IMAGES_MAX 32768
/* and the memory for them. Each limit is a quarter of the total. */
#define QUOTA_IMAGE_BYTES_MAX ((size_t)16 << 20)

/* Number of users with their own account; the others share one. */
#define QUOTA_USERS_MAX 4096

/* The user of a process is unknown. */
#define QUOTA_UID_NONE UINT32_MAX

/** enum quota_limit - the limits of a user */
enum quota_limit {
	/* Points for image events and reading /proc. */
	QUOTA_EVENTS,
	/* Memory for mappings. */
	QUOTA_MAPPINGS,
	/* Numbers of images, and files waiting to be identified. */
	QUOTA_IMAGES,
	QUOTA_LIMITS,
};

/** quota_limit_name() - "quota_events", "quota_mappings" or "quota_images" */
const char *quota_limit_name(enum quota_limit limit);

/**
 * struct quota_user - the account of a user
 * @points:      available; negative after work that cost more than there were
 * @points_max:  maximum of @points
 * @filled_ns:   when points were last added, CLOCK_MONOTONIC
 * @bytes:       of mappings, when last computed
 * @images:      number of images that processes of this user were the first to map
 * @image_bytes: memory for these
 * @refused:     refused events, mappings or images, by limit
 * @spent:       points that were charged
 * @files:       files that were opened because of the user's events
 */
struct quota_user {
	uint32_t uid;
	int64_t points;
	int64_t points_max;
	uint64_t filled_ns;
	size_t bytes;
	uint32_t images;
	size_t image_bytes;
	uint64_t refused[QUOTA_LIMITS];
	uint64_t spent;
	uint64_t files;
};

/**
 * struct quota - all accounts; zero-initialised is empty
 * @points_max: of each user, set before the first; 0: QUOTA_POINTS_MAX
 */
struct quota {
	int64_t points_max;
	struct u64_map users; /* uid -> struct quota_user * */
	struct quota_user others;
	uint64_t refused[QUOTA_LIMITS];
};

void quota_deinit(struct quota *quota);

/** quota_user_of() - return the account of a user; valid until quota_deinit(). Never NULL. */
struct quota_user *quota_user_of(struct quota *quota, uint32_t uid);

/** quota_is_limited() - return false for root. */
static inline bool quota_is_limited(const struct quota_user *user)
{
	return user->uid != 0;
}

/**
 * quota_spend() - charge work to a user
 * @now_ns: CLOCK_MONOTONIC
 *
 * Return: false if the user has no points left; then nothing is charged.
 */
bool quota_spend(struct quota_user *user, uint64_t now_ns, int64_t points);

/** quota_charge() - charge work that has been done, whether or not the user had the points. */
void quota_charge(struct quota_user *user, uint64_t now_ns, int64_t points);

/** quota_points() - return the points of a user at this time. */
int64_t quota_points(struct quota_user *user, uint64_t now_ns);

/** quota_refuse() - count an event, mapping or image that was refused because of a limit. */
void quota_refuse(struct quota *quota, struct quota_user *user, enum quota_limit limit);

/** struct quota_totals - of all users except root, since the start; see struct quota_user */
struct quota_totals {
	uint64_t spent;
	uint64_t files;
};

struct quota_totals quota_totals(const struct quota *quota);

/**
 * quota_worst() - return the user with the most refusals because of a limit
 *
 * Return: NULL if there were none.
 */
const struct quota_user *quota_worst(const struct quota *quota, enum quota_limit limit);

#endif
