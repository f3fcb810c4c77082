/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables of different strings, numbered in the order in which they were added. */
#ifndef DCPI_STRING_TABLE_H
#define DCPI_STRING_TABLE_H

#include <stdint.h>

/* Longer strings are truncated. */
#define STRING_TABLE_BYTES_MAX 8192

/** struct string_table - zero-initialised is empty */
struct string_table {
	void *root;
	uint64_t count;
};

/** string_table_deinit() - free all strings; the table is empty afterwards */
void string_table_deinit(struct string_table *table);

/**
 * string_table_add() - find a string, or add it
 * @number: out
 * @added:  out: the string as stored, if it was not in the table; NULL otherwise
 *
 * Control characters and bytes that are not UTF-8 become '?'.
 *
 * Return: 0 or -ENOMEM.
 */
int string_table_add(struct string_table *table, const char *text, uint64_t *number,
		     const char **added);

#endif
