/* SPDX-License-Identifier: GPL-2.0-only */
/* A small set of named counts. The counters of an epoch are stored in one. */
#ifndef DCPI_COUNTER_SET_H
#define DCPI_COUNTER_SET_H

#include "db/profile.h"

#define COUNTER_SET_MAX 192

/** struct counter_set - zero-initialised is empty; group and name must be static strings. */
struct counter_set {
	struct profile_counter counter[COUNTER_SET_MAX];
	size_t count;
};

/**
 * counter_set_put() - set a count, adding it if it is new. Asserts that the counters is not full:
 * all names are fixed in the source.
 */
void counter_set_put(struct counter_set *counters, const char *group, const char *name,
		     uint64_t value);

/** counter_set_get() - return a count, 0 if it was never set. */
uint64_t counter_set_get(const struct counter_set *counters, const char *group, const char *name);

/** counter_set_sum() - return the sum of all counts of a group. */
uint64_t counter_set_sum(const struct counter_set *counters, const char *group);

/** counter_set_subtract() - make counts relative to an earlier counters; results below 0 become 0.
 */
void counter_set_subtract(struct counter_set *counters, const struct counter_set *base);

#endif
