/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The unwind table of an image: a rule for each offset of its code.
 *
 * A table is divided into pages (unwind_page.h). Each page may be missing. Different rules are
 * few, so each is stored once for all pages.
 *
 * The complete table of a file is always the same. Pages that are built later have the same rules
 * with other numbers.
 *
 * Invariants: the numbers of rules are less than @rule_count. Rule 0 is UNWIND_NONE, and rule 1 is
 * UNWIND_UNKNOWN.
 */
#ifndef DCPI_UNWIND_TABLE_H
#define DCPI_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/unwind/unwind_page.h"
#include "daemon/unwind/unwind_rule.h"

/* Rows of one table: those of a program with some hundred MB of code. */
#define UNWIND_ROWS_MAX (4U << 20)
/* Pages between the first and the last code of a file: 2 GB. */
#define UNWIND_PAGES_MAX (1U << 17)
#define UNWIND_RULE_NONE 0
#define UNWIND_RULE_UNKNOWN 1
#define UNWIND_WANTED_MAX 64
/* More than the number of a rule. */
#define UNWIND_START_ROWS (1U << 15)

/**
 * struct unwind_table - of one image; freed by unwind_table_destroy()
 * @machine:    of the image
 * @first_page: number of the first page
 * @page_count: of the image; other code has no rule
 * @row_count:  of all pages of the image
 * @starts:     number of the rule at the start of each page, and UNWIND_START_ROWS: it has rows
 * @pages:      those with rows; NULL: it is missing
 * @followers:  of each rule
 */
struct unwind_table {
	const struct unwind_machine *machine;
	uint64_t first_page;
	uint32_t page_count;
	uint32_t row_count;
	uint32_t rule_count;
	uint16_t *starts;
	struct unwind_page **pages;
	struct unwind_rule *rules;
	struct unwind_followers *followers;
};

/**
 * struct unwind_wanted - the pages to be read of a table
 * @pages:     numbers of @count pages, at least one; 0: the first 16 KB of the file
 * @bytes_max: memory that other pages may take: those that follow the first wanted one
 * @only:      other pages are not built, see unwind_build_pages(); @bytes_max is 0
 */
struct unwind_wanted {
	uint64_t pages[UNWIND_WANTED_MAX];
	uint32_t count;
	size_t bytes_max;
	bool only;
};

/** unwind_wanted_has() - return true if a page is one of the wanted ones */
bool unwind_wanted_has(const struct unwind_wanted *wanted, uint64_t page);

/** unwind_table_index() - return the index of a page, or @page_count if it is not covered */
uint32_t unwind_table_index(const struct unwind_table *table, uint64_t page);

/** unwind_table_page() - return the page of an offset; NULL: it is missing, or has no rows */
struct unwind_page *unwind_table_page(const struct unwind_table *table, uint64_t offset);

/**
 * unwind_table_find() - find the rule at an offset of the image's file
 *
 * Return: NULL: its page is missing.
 */
const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t offset);

/**
 * unwind_table_check() - check the invariants of a table without its pages
 *
 * Also checks that unwind_step() can follow each rule: the table cannot cause accesses to other
 * memory than its own.
 */
bool unwind_table_check(const struct unwind_table *table);

/**
 * unwind_table_write() - write a table to a file, for unwind_table_read()
 * @fd: at the start of an empty file
 *
 * Return: 0, or the error of write(2).
 */
int unwind_table_write(const struct unwind_table *table, int fd);

/**
 * unwind_table_read() - read a table that another process has written
 * @ret:    out: a copy, freed by unwind_table_destroy(). All its pages have been checked
 * @wanted: NULL: all pages
 *
 * Return: 0; -EBADMSG: it is not a valid table; -ENOMEM; or the error of pread(2).
 */
int unwind_table_read(struct unwind_table **ret, int fd, const struct unwind_wanted *wanted);

/** unwind_table_copy() - copy a table without its pages. Return: NULL if out of memory. */
struct unwind_table *unwind_table_copy(const struct unwind_table *table);

/** unwind_rule_hash() - return the hash of a rule */
uint64_t unwind_rule_hash(const struct unwind_rule *rule);

/** unwind_table_is_same() - return true if two tables have the same code and rules */
bool unwind_table_is_same(const struct unwind_table *a, const struct unwind_table *b);

/** unwind_table_fixed_bytes() - return the size of its memory without that of the pages */
size_t unwind_table_fixed_bytes(const struct unwind_table *table);

/** unwind_table_bytes() - return the size of its memory */
size_t unwind_table_bytes(const struct unwind_table *table);

/** unwind_table_destroy() - free; @table may be NULL */
void unwind_table_destroy(struct unwind_table *table);

#endif
