/* SPDX-License-Identifier: GPL-2.0-only */
/* dcpictl merge: databases into one, with a line for what is left out. */
#ifndef DCPI_DATABASE_MERGE_H
#define DCPI_DATABASE_MERGE_H

#include <stddef.h>

struct error;

/**
 * database_merge() - merge databases into that at @out, made if missing
 *
 * Says what it does on standard output, and on standard error what epochs it
 * leaves out for other reasons than that they are there. Nothing is made or
 * changed unless all of @files can be opened.
 *
 * Return: 0 or negative errno, as profile_merge(); -EBUSY a daemon writes to @out.
 */
int database_merge(const char *out, char *const *files, size_t count, struct error *err);

#endif
