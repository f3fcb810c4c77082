/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The SQLite extension dcpi_sqlite.so: profiles, edges and symbols as tables.
 *
 *	$ sqlite3 profile.db
 *	sqlite> .load build/lib/dcpi_sqlite
 *	sqlite> SELECT path, sum(count) FROM dcpi_samples GROUP BY path;
 *
 * dcpi_samples (epoch, image, path, event, pid, offset, count): a row for each offset of each
 * profile. event is the event's name; pid is -1 where samples are not kept by process, and -1 -
 * label where they are kept by unit. Equality with an epoch, image, event or pid selects profiles
 * before they are decoded. Counts and offsets are SQL integers: an offset of 2^63 or more is shown
 * as negative.
 *
 * dcpi_edges (epoch, image, path, to_image, to_path, kind, from_offset,
 * to_offset, count): a row for each edge; kind is "branch", "double" or "probe".
 * Equality with an epoch, image, to_image or kind selects edges before they are decoded.
 *
 * dcpi_symbols (image, offset, bytes, name): the symbols kept with images.
 *
 * All tables read the schema "main", and report an SQL error for damaged data. They cannot be used
 * from views or triggers of a file.
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

/** dcpi_sqlite_error() - return the SQLite result for a decoder's negative errno. */
int dcpi_sqlite_error(sqlite3_vtab *table, int r, const char *what, sqlite3_int64 id);

/**
 * struct dcpi_selector - a column whose equality with a value selects rows
 * @column:    number of the column in the table
 * @condition: SQL, " AND x = ?N", where N is the selector's index plus one
 * @share:     typically one in @share rows is selected
 */
struct dcpi_selector {
	int column;
	const char *condition;
	double share;
};

/**
 * struct dcpi_cursor - an iteration over a table, the first member of its cursor
 * @rows:  positioned at the row whose decoded contents are iterated over
 * @count: items in the row's contents; @next: index of the next item
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
 * struct dcpi_table_type - properties that differ between the tables
 * @declaration:  CREATE TABLE, with the columns
 * @query:        SQL of the rows to decode, ending in a WHERE to which conditions can be added
 * @selectors:    columns whose equality selects rows before they are decoded; SQLite checks
 *                the equality again, so that unusual types compare as they do elsewhere
 * @cursor_bytes: size of a cursor
 * @is_absent:    return true if this file has no rows because its schema is older; may be NULL
 * @decode:       decode the row that @rows is positioned at, and set @count; Return: SQLite result
 * @column:       return a value of the item at the cursor's position
 * @release:      free memory that @decode has allocated
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
