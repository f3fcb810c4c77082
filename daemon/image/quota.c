// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/quota.h"

#include <stdlib.h>

#include "lib/clock.h"

const char *quota_limit_name(enum quota_limit limit)
{
	switch (limit) {
	case QUOTA_EVENTS:
		return "quota_events";
	case QUOTA_MAPPINGS:
		return "quota_mappings";
	case QUOTA_IMAGES:
		return "quota_images";
	case QUOTA_LIMITS:
		break;
	}
	return "invalid";
}

void quota_deinit(struct quota *quota)
{
	uint64_t uid, value;
	size_t cursor = 0;

	while (u64_map_next(&quota->users, &cursor, &uid, &value))
		free((struct quota_user *)(uintptr_t)value);
	u64_map_deinit(&quota->users);
}

struct quota_user *quota_user_of(struct quota *quota, uint32_t uid)
{
	uint64_t *slot = u64_map_find(&quota->users, uid);
	int64_t points_max = quota->points_max != 0 ? quota->points_max : QUOTA_POINTS_MAX;
	struct quota_user *user;

	if (slot != NULL)
		return (struct quota_user *)(uintptr_t)*slot;
	quota->others.uid = QUOTA_UID_NONE;
	quota->others.points_max = points_max;
	/* Root must not share an account that has limits. */
	if (uid != 0 && u64_map_count(&quota->users) >= QUOTA_USERS_MAX)
		return &quota->others;
	user = calloc(1, sizeof(*user));
	slot = user != NULL ? u64_map_insert(&quota->users, uid) : NULL;
	if (slot == NULL) {
		free(user);
		return &quota->others;
	}
	*slot = (uintptr_t)user;
	user->uid = uid;
	user->points_max = points_max;
	return user;
}

int64_t quota_points(struct quota_user *user, uint64_t now_ns)
{
	uint64_t elapsed_ns = now_ns > user->filled_ns ? now_ns - user->filled_ns : 0;
	const uint64_t full_ns =
		NS_PER_SECOND / QUOTA_POINTS_PER_SECOND * 2 * (uint64_t)user->points_max;

	if (user->filled_ns == 0 || elapsed_ns >= full_ns) {
		user->points = user->points_max;
		user->filled_ns = now_ns > user->filled_ns ? now_ns : user->filled_ns;
	} else if (elapsed_ns >= NS_PER_MS) {
		user->points += (int64_t)(elapsed_ns * QUOTA_POINTS_PER_SECOND / NS_PER_SECOND);
		user->filled_ns = now_ns;
	}
	if (user->points > user->points_max)
		user->points = user->points_max;
	return user->points;
}

bool quota_spend(struct quota_user *user, uint64_t now_ns, int64_t points)
{
	if (!quota_is_limited(user))
		return true;
	if (quota_points(user, now_ns) < points)
		return false;
	user->points -= points;
	user->spent += (uint64_t)points;
	return true;
}

void quota_charge(struct quota_user *user, uint64_t now_ns, int64_t points)
{
	if (!quota_is_limited(user))
		return;
	user->points = quota_points(user, now_ns) - points;
	user->spent += (uint64_t)points;
}

void quota_refuse(struct quota *quota, struct quota_user *user, enum quota_limit limit)
{
	quota->refused[limit]++;
	user->refused[limit]++;
}

const struct quota_user *quota_worst(const struct quota *quota, enum quota_limit limit)
{
	const struct quota_user *worst = &quota->others, *user;
	uint64_t uid, value;
	size_t cursor = 0;

	while (u64_map_next(&quota->users, &cursor, &uid, &value)) {
		user = (const struct quota_user *)(uintptr_t)value;
		if (user->refused[limit] > worst->refused[limit])
			worst = user;
	}
	return worst->refused[limit] > 0 ? worst : NULL;
}

struct quota_totals quota_totals(const struct quota *quota)
{
	struct quota_totals totals = {.spent = quota->others.spent, .files = quota->others.files};
	uint64_t uid, value;
	size_t cursor = 0;

	while (u64_map_next(&quota->users, &cursor, &uid, &value)) {
		const struct quota_user *user = (const struct quota_user *)(uintptr_t)value;

		totals.spent += user->spent;
		totals.files += user->files;
	}
	return totals;
}
