/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of the procedures of a call profile, clean. */
#ifndef DCPI_CALL_NAMES_H
#define DCPI_CALL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct call_map;

/** struct call_names - zero-initialised: empty; freed by call_names_deinit() */
struct call_names {
	char **names;
	size_t count;
};

/**
 * call_names_make() - make the names of all nodes of a profile
 *
 * The names of the procedures of @map come first, followed by the names of the other nodes, which
 * call procedures without being one: enum call_profile_node.
 *
 * Return: 0 or -ENOMEM.
 */
int call_names_make(struct call_names *ret, const struct call_map *map, bool demangle_names);

void call_names_deinit(struct call_names *names);

#endif
