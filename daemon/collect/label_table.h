/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The labels seen so far: units and containers of processes (daemon/base/cgroup.h), with numbers
 * from 1 on, which are also used in the database.
 *
 * The table is bounded: on a machine that creates a container for each job, labels after the first
 * LABEL_TABLE_MAX get the number LABEL_OTHER, until the table is reset.
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

/* In no unit and no container, or unknown. */
#define LABEL_NONE 0
/* Its unit is "(other)". */
#define LABEL_OTHER 1

int label_table_create(struct label_table **ret, struct error *err);

/** label_table_destroy() - free the table. @table may be NULL. */
void label_table_destroy(struct label_table *table);

/** label_table_reset() - remove all labels except LABEL_OTHER. Return: 0 or -ENOMEM. */
int label_table_reset(struct label_table *table, struct error *err);

/** label_table_number() - return the number of the label of a control group. O(1) */
uint32_t label_table_number(struct label_table *table, const struct cgroup *cgroup);

/**
 * label_table_get() - return a label by number, 1 .. label_table_count(); valid until the reset.
 */
struct profile_label label_table_get(const struct label_table *table, uint32_t number);

size_t label_table_count(const struct label_table *table);

/** label_table_bytes() - return the memory in use. */
size_t label_table_bytes(const struct label_table *table);

#endif
