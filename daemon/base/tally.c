// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/base/tally.h"

#include <assert.h>
#include <string.h>

static const struct profile_counter *tally_find(const struct tally *tally, const char *group,
						const char *name)
{
	size_t i;

	for (i = 0; i < tally->count; i++) {
		if (strcmp(tally->counter[i].group, group) == 0 &&
		    strcmp(tally->counter[i].name, name) == 0)
			return &tally->counter[i];
	}
	return NULL;
}

void tally_set(struct tally *tally, const char *group, const char *name, uint64_t value)
{
	const struct profile_counter *found = tally_find(tally, group, name);
	size_t at = found != NULL ? (size_t)(found - tally->counter) : tally->count;

	assert(at < TALLY_MAX);
	tally->counter[at] = (struct profile_counter){.group = group, .name = name, .count = value};
	if (at == tally->count)
		tally->count++;
}

uint64_t tally_get(const struct tally *tally, const char *group, const char *name)
{
	const struct profile_counter *found = tally_find(tally, group, name);

	return found != NULL ? found->count : 0;
}

uint64_t tally_sum(const struct tally *tally, const char *group)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < tally->count; i++) {
		if (strcmp(tally->counter[i].group, group) == 0)
			sum += tally->counter[i].count;
	}
	return sum;
}

void tally_subtract(struct tally *tally, const struct tally *base)
{
	size_t i;

	for (i = 0; i < tally->count; i++) {
		struct profile_counter *counter = &tally->counter[i];
		uint64_t before = tally_get(base, counter->group, counter->name);

		counter->count = counter->count > before ? counter->count - before : 0;
	}
}
