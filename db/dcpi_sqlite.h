/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The SQLite extension dcpi_sqlite.so: profiles and symbols as tables.
 *
 *	$ sqlite3 profile.db
 *	sqlite> .load build/lib/dcpi_sqlite
 *	sqlite> SELECT path, sum(count) FROM dcpi_samples GROUP BY path;
 *
 * dcpi_samples (epoch, image, path, event, pid, offset, count): a row for each
 * offset of each profile; event is the event's name, pid -1 where samples are
 * not kept by process. Equality with an epoch, image, event or pid selects
 * profiles before they are decoded. Counts and offsets are SQL integers: an
 * offset of 2^63 and more is shown negative.
 *
 * dcpi_symbols (image, offset, bytes, name): the symbols kept with images.
 *
 * Both read the schema "main", and are an SQL error for damaged data. They
 * cannot be used from views or triggers of a file.
 */
#ifndef DCPI_DCPI_SQLITE_H
#define DCPI_DCPI_SQLITE_H

#include <sqlite3ext.h>

extern const sqlite3_module dcpi_samples_module;
extern const sqlite3_module dcpi_symbols_module;

/**
 * dcpi_sqlite_fail() - set a table's error message and pass the result on
 * @format: as for sqlite3_mprintf()
 */
int dcpi_sqlite_fail(sqlite3_vtab *table, int rc, const char *format, ...);

/** dcpi_sqlite_error() - the SQLite result for a decoder's negative errno. */
int dcpi_sqlite_error(sqlite3_vtab *table, int r, const char *what, sqlite3_int64 id);

/** struct dcpi_table - either table: a connection, nothing else. */
struct dcpi_table {
	sqlite3_vtab base;
	sqlite3 *handle;
};

/** dcpi_sqlite_connect() - xConnect for a table with these columns. */
int dcpi_sqlite_connect(sqlite3 *handle, const char *declaration, sqlite3_vtab **ret);

/** dcpi_sqlite_disconnect() - xDisconnect. */
int dcpi_sqlite_disconnect(sqlite3_vtab *table);

#endif
