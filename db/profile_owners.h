/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of profiles that belong to a process, a unit or a container. Private to the reader. */
#ifndef DCPI_PROFILE_OWNERS_H
#define DCPI_PROFILE_OWNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct epoch_set;
struct error;
struct profile_filter;
struct profile_owner;
struct profile_reader;

/** struct profile_owners - zeroed: no owner; fields are private */
struct profile_owners {
	const struct profile_filter *filter;
	struct profile_owner *list;
	size_t count;
	size_t capacity;
};

/**
 * profile_owners_find() - look up the owners that a filter selects
 * @owners: zeroed
 * @filter: must outlive @owners
 *
 * Return: 0; -ENOMEM; or the reader's error.
 */
int profile_owners_find(struct profile_owners *owners, struct profile_reader *reader,
			const struct profile_filter *filter, const struct epoch_set *epochs,
			struct error *err);

void profile_owners_deinit(struct profile_owners *owners);

/**
 * profile_owners_has() - return true if samples stored for @pid in an epoch are selected. O(log n)
 */
bool profile_owners_has(const struct profile_owners *owners, int64_t epoch, int64_t pid);

#endif
