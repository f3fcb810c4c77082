/* SPDX-License-Identifier: GPL-2.0-only */
/* dcpictl merge: merges databases into one, and reports the epochs that it omits. */
#ifndef DCPI_DATABASE_MERGE_H
#define DCPI_DATABASE_MERGE_H

#include <stddef.h>

struct error;

/**
 * database_merge() - merge databases into the one at @out, which is created if missing
 *
 * Reports its actions on standard output, and on standard error the epochs that it omits for other
 * reasons than that they exist already. Nothing is created or changed unless all of @files can be
 * opened.
 *
 * Return: 0 or negative errno, as profile_merge(); -EBUSY if a daemon writes to @out.
 */
int database_merge(const char *out, char *const *files, size_t count, struct error *err);

#endif
