// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/base/counter_set.h"

#include <assert.h>
#include <string.h>

static const struct profile_counter *counter_set_find(const struct counter_set *counters,
						      const char *group, const char *name)
{
	size_t i;

	for (i = 0; i < counters->count; i++) {
		if (strcmp(counters->counter[i].group, group) == 0 &&
		    strcmp(counters->counter[i].name, name) == 0)
			return &counters->counter[i];
	}
	return NULL;
}

void counter_set_put(struct counter_set *counters, const char *group, const char *name,
		     uint64_t value)
{
	const struct profile_counter *found = counter_set_find(counters, group, name);
	size_t at = found != NULL ? (size_t)(found - counters->counter) : counters->count;

	assert(at < COUNTER_SET_MAX);
	counters->counter[at] =
		(struct profile_counter){.group = group, .name = name, .count = value};
	if (at == counters->count)
		counters->count++;
}

uint64_t counter_set_get(const struct counter_set *counters, const char *group, const char *name)
{
	const struct profile_counter *found = counter_set_find(counters, group, name);

	return found != NULL ? found->count : 0;
}

uint64_t counter_set_sum(const struct counter_set *counters, const char *group)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < counters->count; i++) {
		if (strcmp(counters->counter[i].group, group) == 0)
			sum += counters->counter[i].count;
	}
	return sum;
}

void counter_set_subtract(struct counter_set *counters, const struct counter_set *base)
{
	size_t i;

	for (i = 0; i < counters->count; i++) {
		struct profile_counter *counter = &counters->counter[i];
		uint64_t before = counter_set_get(base, counter->group, counter->name);

		counter->count = counter->count > before ? counter->count - before : 0;
	}
}
