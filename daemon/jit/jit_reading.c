// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/jit/jit_reading.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/clock.h"

#define NS_PER_POINT 1000

static struct jit_user *user_of(uint64_t value)
{
	return (struct jit_user *)(uintptr_t)value;
}

void jit_reading_deinit(struct jit_reading *reading)
{
	uint64_t uid, value;
	size_t cursor = 0;

	while (u64_map_next(&reading->users, &cursor, &uid, &value))
		free(user_of(value));
	u64_map_deinit(&reading->users);
	quota_deinit(&reading->quota);
	for (size_t i = 0; i < JIT_PARSERS; i++)
		jit_parser_end(&reading->parsers[i]);
}

uint64_t jit_reading_parsed_ns(const struct jit_reading *reading)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < JIT_PARSERS; i++)
		sum += reading->parsers[i].cpu_ns;
	return sum;
}

uint64_t jit_reading_failed(const struct jit_reading *reading)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < JIT_PARSERS; i++)
		sum += reading->parsers[i].failed;
	return sum;
}

/* Add the budgets of all drains since the last call. */
static void refill(const struct jit_reading *reading, struct jit_user *user)
{
	uint64_t drains = reading->drain - user->drain;

	if (drains == 0)
		return;
	user->drain = reading->drain;
	if (drains > JIT_USER_SAVED_BYTES / JIT_USER_DRAIN_BYTES)
		drains = JIT_USER_SAVED_BYTES / JIT_USER_DRAIN_BYTES;
	user->saved += drains * JIT_USER_DRAIN_BYTES;
	if (user->saved > JIT_USER_SAVED_BYTES)
		user->saved = JIT_USER_SAVED_BYTES;
	user->budget = user->saved < JIT_USER_BURST_BYTES ? user->saved : JIT_USER_BURST_BYTES;
}

struct jit_user *jit_reading_user(struct jit_reading *reading, uint32_t uid)
{
	uint64_t *slot = u64_map_insert(&reading->users, uid);

	if (slot == NULL)
		return NULL;
	if (*slot == 0) {
		struct jit_user *user = calloc(1, sizeof(*user));

		if (user == NULL) {
			u64_map_remove(&reading->users, uid);
			return NULL;
		}
		user->saved = JIT_USER_SAVED_BYTES;
		user->budget = JIT_USER_BURST_BYTES;
		user->drain = reading->drain;
		*slot = (uintptr_t)user;
	}
	refill(reading, user_of(*slot));
	return user_of(*slot);
}

void jit_reading_spend(struct jit_user *user, size_t bytes)
{
	user->budget -= bytes < user->budget ? bytes : user->budget;
	user->saved -= bytes < user->saved ? bytes : user->saved;
}

bool jit_reading_begin(struct jit_reading *reading, struct jit_work *work, uint32_t pid)
{
	uint32_t uid = reading->uid != NULL ? reading->uid(reading->uid_context, pid) : 0;

	reading->quota.points_max = JIT_POINTS_MAX;
	*work = (struct jit_work){.reading = reading,
				  .user = quota_user_of(&reading->quota, uid),
				  .parsed_ns = jit_reading_parsed_ns(reading),
				  .failed = jit_reading_failed(reading)};
	if (!quota_is_limited(work->user))
		return true;
	if (quota_points(work->user, clock_monotonic_ns()) <= 0) {
		reading->postponed++;
		return false;
	}
	/* Other load of the machine must not be charged. */
	work->began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return true;
}

void jit_reading_charge(const struct jit_work *work, int64_t points)
{
	quota_charge(work->user, clock_monotonic_ns(), points);
}

void jit_reading_end(const struct jit_work *work)
{
	uint64_t used_ns, failed;

	if (!quota_is_limited(work->user))
		return;
	used_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - work->began_ns +
		  jit_reading_parsed_ns(work->reading) - work->parsed_ns;
	failed = jit_reading_failed(work->reading) - work->failed;
	jit_reading_charge(work, (int64_t)(used_ns / NS_PER_POINT + failed * JIT_FAILURE_POINTS));
}

int jit_reading_largest(const struct jit_reading *reading, uint32_t *uid)
{
	uint64_t id, value;
	size_t cursor = 0, most = 0;

	while (u64_map_next(&reading->users, &cursor, &id, &value)) {
		if (user_of(value)->bytes <= most)
			continue;
		most = user_of(value)->bytes;
		*uid = (uint32_t)id;
	}
	return most > 0 ? 0 : -ENOENT;
}
