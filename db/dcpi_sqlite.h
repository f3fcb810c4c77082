/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The SQLite extension dcpi_sqlite.so: profiles, edges and symbols as tables.
 *
 *	$ sqlite3 profile.db
 *	sqlite> .load build/lib/dcpi_sqlite
 *	sqlite> SELECT path, sum(count) FROM dcpi_samples GROUP BY path;
 *
 * dcpi_samples (epoch, image, path, event, pid, offset, count): a row for each
 * offset of each profile; event is the event's name, pid -1 where samples are
 * not kept by process, and -1 - label where they are kept by unit. Equality with an
 * epoch, image, event or pid selects profiles before they are decoded. Counts and
 * offsets are SQL integers: an offset of 2^63 and more is shown negative.
 *
 * dcpi_edges (epoch, image, path, to_image, to_path, kind, from_offset,
 * to_offset, count): a row for each edge; kind is "branch", "double" or "probe".
 * Equality with an epoch, image, to_image or kind selects likewise. Of a file of
 * version 1 of the schema, which had no edges, it is empty.
 *
 * dcpi_symbols (image, offset, bytes, name): the symbols kept with images.
 *
 * All read the schema "main", and are an SQL error for damaged data. They
 * cannot be used from views or triggers of a file.
 */
#ifndef DCPI_DCPI_SQLITE_H
#define DCPI_DCPI_SQLITE_H

#include <sqlite3ext.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * dcpi_sqlite_fail() - set a table's error message and pass the result on
 * @format: as for sqlite3_mprintf()
 */
int dcpi_sqlite_fail(sqlite3_vtab *table, int rc, const char *format, ...);

/** dcpi_sqlite_error() - the SQLite result for a decoder's negative errno. */
int dcpi_sqlite_error(sqlite3_vtab *table, int r, const char *what, sqlite3_int64 id);

/**
 * struct dcpi_selector - a column whose equality with something selects rows
 * @column:    its number in the table
 * @condition: SQL, " AND x = ?N", where N is the selector's index and one
 * @share:     one row in so many is selected, as a rule
 */
struct dcpi_selector {
	int column;
	const char *condition;
	double share;
};

/**
 * struct dcpi_cursor - a walk over a table, the first member of its cursor
 * @rows:  stands on the row whose decoded contents are walked
 * @count: of what is in them; @next: the place in them
 */
struct dcpi_cursor {
	sqlite3_vtab_cursor base;
	sqlite3_stmt *rows;
	size_t count;
	size_t next;
	sqlite3_int64 rowid;
	bool eof;
};

/**
 * struct dcpi_table_type - what differs between the tables
 * @declaration:  CREATE TABLE, with the columns
 * @query:        SQL of the rows to decode, ending in a WHERE to which conditions can be added
 * @selectors:    columns whose equality selects rows before they are decoded; SQLite checks
 *                these again, so that odd types compare as they do elsewhere
 * @cursor_bytes: size of a cursor
 * @is_absent:    whether this file has no such rows, since its schema is older; may be NULL
 * @decode:       the row that @rows stands on, setting @count; Return: an SQLite result
 * @column:       a value of the place that the cursor stands on
 * @release:      what @decode has allocated
 */
struct dcpi_table_type {
	const char *name;
	const char *declaration;
	const char *query;
	const struct dcpi_selector *selectors;
	int selector_count;
	size_t cursor_bytes;
	bool (*is_absent)(sqlite3 *handle);
	int (*decode)(struct dcpi_cursor *cursor);
	void (*column)(const struct dcpi_cursor *cursor, sqlite3_context *context, int column);
	void (*release)(struct dcpi_cursor *cursor);
};

extern const struct dcpi_table_type dcpi_samples_table;
extern const struct dcpi_table_type dcpi_edges_table;
extern const struct dcpi_table_type dcpi_symbols_table;

#endif
