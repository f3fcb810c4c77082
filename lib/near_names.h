/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Existing names that are similar to a name that does not exist.
 */
#ifndef DCPI_NEAR_NAMES_H
#define DCPI_NEAR_NAMES_H

#include <stddef.h>

struct error;

#define NEAR_NAMES_MAX 3

/**
 * struct near_names - the nearest names so far; fields are private
 * @wanted: owned by the caller
 * @names:  malloc'd, the nearest first
 */
struct near_names {
	const char *wanted;
	char *names[NEAR_NAMES_MAX];
	unsigned int distances[NEAR_NAMES_MAX];
	size_t count;
};

/** near_names_init() - start without names; @wanted must outlive @near */
void near_names_init(struct near_names *near, const char *wanted);

void near_names_deinit(struct near_names *near);

/**
 * near_names_add() - consider an existing name, in any order
 *
 * A name is near if it equals the wanted name except for case, or has it as its last part after
 * "::" or ".". It is also near if it ends or begins with the wanted name, contains it, or differs
 * by a few letters: one for four letters of the wanted name. Arguments, as in "drain(int)", do not
 * count at the end.
 * analysis/image/near_symbols.h has the same for mangled names.
 */
void near_names_add(struct near_names *near, const char *name);

/**
 * near_names_text() - format " (did you mean A, B?)", or "" if no name is near, like snprintf(3)
 */
void near_names_text(const struct near_names *near, char *text, size_t bytes);

/**
 * near_names_unknown() - describe a name that is not one of a few existing ones
 * @what:  kind of the name: "event"
 * @names: the existing ones, @count of them; those that fit are listed
 *
 * Return: -EINVAL.
 */
int near_names_unknown(struct error *err, const char *what, const char *wanted,
		       const char *const *names, size_t count);

#endif
