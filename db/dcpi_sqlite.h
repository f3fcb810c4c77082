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
 * to_offset, count): a row for each edge; kind is "branch" or "double".
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

extern const sqlite3_module dcpi_samples_module;
extern const sqlite3_module dcpi_edges_module;
extern const sqlite3_module dcpi_symbols_module;

/**
 * dcpi_sqlite_fail() - set a table's error message and pass the result on
 * @format: as for sqlite3_mprintf()
 */
int dcpi_sqlite_fail(sqlite3_vtab *table, int rc, const char *format, ...);

/** dcpi_sqlite_error() - the SQLite result for a decoder's negative errno. */
int dcpi_sqlite_error(sqlite3_vtab *table, int r, const char *what, sqlite3_int64 id);

/** struct dcpi_table - any of the tables: a connection, nothing else. */
struct dcpi_table {
	sqlite3_vtab base;
	sqlite3 *handle;
};

/** dcpi_sqlite_connect() - xConnect for a table with these columns. */
int dcpi_sqlite_connect(sqlite3 *handle, const char *declaration, sqlite3_vtab **ret);

/** dcpi_sqlite_disconnect() - xDisconnect. */
int dcpi_sqlite_disconnect(sqlite3_vtab *table);

/**
 * struct dcpi_cursor - a walk over any of the tables, the first member of its cursor
 * @rows: stands on the row whose decoded contents are walked
 * @next: the place in them
 */
struct dcpi_cursor {
	sqlite3_vtab_cursor base;
	sqlite3_stmt *rows;
	size_t next;
	sqlite3_int64 rowid;
	bool eof;
};

/** dcpi_sqlite_open() - for xOpen: a zeroed cursor of @bytes. */
int dcpi_sqlite_open(size_t bytes, sqlite3_vtab_cursor **ret);

/** dcpi_sqlite_close() - for xClose: after the contents have been freed. */
int dcpi_sqlite_close(struct dcpi_cursor *cursor);

/** dcpi_sqlite_query() - for xFilter: begin again, with this query, not yet bound. */
int dcpi_sqlite_query(struct dcpi_cursor *cursor, const char *sql);

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
 * dcpi_sqlite_best_index() - for xBestIndex: use what selectors there are
 *
 * idxNum has a bit for each selector used. SQLite checks the conditions again
 * (omit stays 0), so that odd types compare as they do elsewhere.
 */
int dcpi_sqlite_best_index(sqlite3_index_info *info, const struct dcpi_selector *selectors,
			   int count);

/**
 * dcpi_sqlite_select() - for xFilter: dcpi_sqlite_query() with the conditions
 * of the selectors @used appended, and bound
 */
int dcpi_sqlite_select(struct dcpi_cursor *cursor, const char *sql,
		       const struct dcpi_selector *selectors, int count, int used, int argc,
		       sqlite3_value **argv);

/** dcpi_sqlite_step() - the next row; at the end @eof is set. Return: an SQLite result. */
int dcpi_sqlite_step(struct dcpi_cursor *cursor);

/** dcpi_sqlite_eof() - xEof; dcpi_sqlite_rowid() - xRowid. */
int dcpi_sqlite_eof(sqlite3_vtab_cursor *cursor);
int dcpi_sqlite_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid);

#endif
