/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The unwind table of an image: a rule for each offset of its code.
 *
 * A row is four bytes: the lower 16 bits of the offset at which it begins to apply, and the number
 * of its rule. An index has the first row of each page of 64 KB. Different rules are few, so each
 * is stored once. A look-up is a binary search in one page.
 *
 * Invariants: offsets of rows ascend; the numbers of rules are less than @rule_count. Rule 0 is
 * UNWIND_NONE, and rule 1 is UNWIND_UNKNOWN.
 */
#ifndef DCPI_UNWIND_TABLE_H
#define DCPI_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/unwind/unwind_rule.h"

/* Rows of one table, 8 MB: the limit for all tables. */
#define UNWIND_ROWS_MAX (2U << 20)
#define UNWIND_RULES_MAX 65536
#define UNWIND_PAGE_SHIFT 16
#define UNWIND_RULE_NONE 0
#define UNWIND_RULE_UNKNOWN 1

/** struct unwind_row - @low: lower bits of the offset */
struct unwind_row {
	uint16_t low;
	uint16_t rule;
};

/**
 * struct unwind_table - of one image; freed by unwind_table_destroy()
 * @machine:    of the image
 * @first_page: number of the first page
 * @pages:      first row of each page, and the number of all rows; @page_count + 1 entries
 */
struct unwind_table {
	const struct unwind_machine *machine;
	uint64_t first_page;
	uint32_t page_count;
	uint32_t row_count;
	uint32_t rule_count;
	uint32_t *pages;
	struct unwind_row *rows;
	struct unwind_rule *rules;
};

/** unwind_table_find() - return the rule at an offset of the image's file; never NULL */
const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t offset);

/**
 * unwind_table_check() - check the invariants of a table from another process
 *
 * Also checks that unwind_step() can follow each rule: the table cannot cause accesses to other
 * memory than its own.
 */
bool unwind_table_check(const struct unwind_table *table);

/**
 * unwind_table_write() - write a table to a file, for unwind_table_read() in another process
 * @fd: at the start of an empty file
 *
 * Return: 0, or the error of write(2).
 */
int unwind_table_write(const struct unwind_table *table, int fd);

/**
 * unwind_table_read() - read a table that another process has written
 * @ret: out: a copy, freed by unwind_table_destroy()
 *
 * Return: 0; -EBADMSG: it is not a valid table; -ENOMEM; or the error of pread(2).
 */
int unwind_table_read(struct unwind_table **ret, int fd);

/** unwind_table_bytes() - return the size of its memory */
size_t unwind_table_bytes(const struct unwind_table *table);

/** unwind_table_destroy() - free; @table may be NULL */
void unwind_table_destroy(struct unwind_table *table);

#endif
