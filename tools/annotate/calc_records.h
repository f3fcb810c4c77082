/* SPDX-License-Identifier: GPL-2.0-only */
/* Branch records of an image in the database (PROFILE_EDGE_RANGE), by address. */
#ifndef DCPI_CALC_RECORDS_H
#define DCPI_CALC_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/frequency/branch_records.h"
#include "db/profile_read.h"

struct calc_profile_wanted;

/** struct calc_records - zero-initialised is empty; @list is freed by its owner */
struct calc_records {
	struct record_range *list;
	size_t count;
	size_t capacity;
};

/** calc_records_has() - return true for the kinds that calc_records_add() takes */
bool calc_records_has(enum profile_edge_kind kind);

/**
 * calc_records_add() - add an edge of one of these kinds
 *
 * Records at addresses without code are skipped. Return: 0 or -ENOMEM.
 */
int calc_records_add(struct calc_records *records, const struct calc_profile_wanted *wanted,
		     enum profile_edge_kind kind, const struct profile_edge *edge);

/** calc_records_settle() - sort by address, and merge the entries of each range */
void calc_records_settle(struct calc_records *records);

#endif
