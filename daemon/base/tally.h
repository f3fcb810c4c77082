/* SPDX-License-Identifier: GPL-2.0-only */
/* A small set of named counts. The counters of an epoch are stored in one. */
#ifndef DCPI_TALLY_H
#define DCPI_TALLY_H

#include "db/profile.h"

#define TALLY_MAX 160

/** struct tally - zero-initialised is empty; group and name must be static strings. */
struct tally {
	struct profile_counter counter[TALLY_MAX];
	size_t count;
};

/**
 * tally_set() - set a count, adding it if it is new. Asserts that the tally is not full: all names
 * are fixed in the source.
 */
void tally_set(struct tally *tally, const char *group, const char *name, uint64_t value);

/** tally_get() - return a count, 0 if it was never set. */
uint64_t tally_get(const struct tally *tally, const char *group, const char *name);

/** tally_sum() - return the sum of all counts of a group. */
uint64_t tally_sum(const struct tally *tally, const char *group);

/** tally_subtract() - make counts relative to an earlier tally; results below 0 become 0. */
void tally_subtract(struct tally *tally, const struct tally *base);

#endif
