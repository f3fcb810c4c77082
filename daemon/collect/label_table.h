/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The labels met: where processes run (daemon/base/cgroup.h), by numbers from 1 on,
 * which are those of the database.
 *
 * The table is bounded: on a machine that makes a container for each job, what comes
 * after LABEL_TABLE_MAX others gets the number LABEL_OTHER, until the table is reset.
 */
#ifndef DCPI_LABEL_TABLE_H
#define DCPI_LABEL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile.h"

struct cgroup;
struct error;
struct label_table;

#define LABEL_TABLE_MAX 4096

/* In no unit and no container, or not known. */
#define LABEL_NONE 0
/* Its unit is "(other)". */
#define LABEL_OTHER 1

int label_table_create(struct label_table **ret, struct error *err);

/** label_table_destroy() - NULL is fine. */
void label_table_destroy(struct label_table *table);

/** label_table_reset() - forget all but LABEL_OTHER. Return: 0 or -ENOMEM. */
int label_table_reset(struct label_table *table, struct error *err);

/** label_table_number() - the number of what a process' control group says. O(1) */
uint32_t label_table_number(struct label_table *table, const struct cgroup *cgroup);

/** label_table_get() - a label by number, 1 .. label_table_count(); valid until the reset. */
struct profile_label label_table_get(const struct label_table *table, uint32_t number);

size_t label_table_count(const struct label_table *table);

/** label_table_bytes() - memory in use. */
size_t label_table_bytes(const struct label_table *table);

#endif
