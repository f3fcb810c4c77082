/* SPDX-License-Identifier: GPL-2.0-only */
/* Encodes the rows of an unwind table as pages. */
#ifndef DCPI_UNWIND_ENCODE_H
#define DCPI_UNWIND_ENCODE_H

#include "daemon/unwind/unwind_table.h"

/**
 * unwind_encode() - make the pages of a table
 * @table: with its rules and the number of its first page; out: the followers and all pages
 * @rows:  @table->row_count of them, at least one, with offsets that ascend from that of the first
 *         page, each with another rule than the one before. Before the first, there is no rule
 *
 * O(rows log rows).
 *
 * Return: 0 or -ENOMEM.
 */
int unwind_encode(struct unwind_table *table, const struct unwind_row *rows);

#endif
