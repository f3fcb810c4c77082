/* SPDX-License-Identifier: GPL-2.0-only */
/* A small set of named counts: what an epoch's counters are made of. */
#ifndef DCPI_TALLY_H
#define DCPI_TALLY_H

#include "db/profile.h"

#define TALLY_MAX 160

/** struct tally - zero-initialised is empty; group and name must be static strings. */
struct tally {
	struct profile_counter counter[TALLY_MAX];
	size_t count;
};

/** tally_set() - set a count, add it if it is new. A full tally asserts: names are ours. */
void tally_set(struct tally *tally, const char *group, const char *name, uint64_t value);

/** tally_get() - a count, 0 if it is not there. */
uint64_t tally_get(const struct tally *tally, const char *group, const char *name);

/** tally_sum() - all counts of a group. */
uint64_t tally_sum(const struct tally *tally, const char *group);

/** tally_subtract() - make counts relative to an earlier tally. Never below 0. */
void tally_subtract(struct tally *tally, const struct tally *base);

#endif
