/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection to the SQLite file: opening and identifying the file, migrating its schema, and
 * converting errors to errno. Private to db/.
 */
#ifndef DCPI_DATABASE_H
#define DCPI_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/database_file.h"

struct error;
struct sqlite3;
struct sqlite3_stmt;

/* Version of the schema that this code writes. */
#define DATABASE_VERSION 8
/* The earliest version that is read and migrated. */
#define DATABASE_VERSION_MIN 3

/**
 * struct database - an open connection; zero-initialised is closed
 * @handle:    SQLite's connection
 * @path:      for messages
 * @immutable: opened without locks or log, because the directory is not
 *             writable and the log is empty; see database_open_read()
 * @file:      the files that database_open_write() has opened
 */
struct database {
	struct sqlite3 *handle;
	char *path;
	bool immutable;
	struct database_file file;
};

/**
 * database_open_write() - open, create or migrate
 *
 * The caller holds the writer's lock.
 */
int database_open_write(struct database *db, const char *path, struct error *err);

/**
 * database_open_read() - open read-only
 *
 * Works concurrently with a writer, and needs no more rights than to read the files. If the
 * directory is not writable (a read-only medium, a directory of another user), the file is opened
 * as immutable. This requires that no writer keeps its shared memory there, and that no log with
 * contents is next to the file. A file of an older schema is read as it is: see database_has().
 */
int database_open_read(struct database *db, const char *path, struct error *err);

/** database_close() - close the connection; all statements must have been finalized */
void database_close(struct database *db);

/**
 * database_fail() - describe SQLite's last failure
 * @rc:    SQLite's result
 * @doing: the action that failed: "cannot <doing> <path>: ..."
 *
 * Return: negative errno.
 */
int database_fail(struct database *db, int rc, const char *doing, struct error *err);

/** database_corrupt() - set the error "PATH is damaged: WHAT". Return: -EBADMSG. */
int database_corrupt(struct database *db, struct error *err, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/** database_exec() - run statements that return no rows */
int database_exec(struct database *db, const char *sql, const char *doing, struct error *err);

/** database_prepare() - compile a statement; the caller finalizes it */
int database_prepare(struct database *db, const char *sql, struct sqlite3_stmt **ret,
		     struct error *err);

/**
 * database_bind() - bind parameters 1, 2, ...
 * @types: a letter each: i int64_t, t const char *, b const void * and size_t
 *
 * The values are not copied: they must live until the statement is reset.
 */
int database_bind(struct database *db, struct sqlite3_stmt *statement, struct error *err,
		  const char *types, ...);

/**
 * database_step() - run a statement up to the next row
 *
 * Return: 1 a row, 0 done (the statement is reset), negative errno (reset).
 */
int database_step(struct database *db, struct sqlite3_stmt *statement, const char *doing,
		  struct error *err);

/**
 * database_has() - check if the file's schema has at least this version
 *
 * A writer may migrate a file that is being read. A read-only connection checks the version in each
 * iteration, since new tables and columns do not change old ones.
 *
 * Return: 1, 0 or negative errno.
 */
int database_has(struct database *db, int version, struct error *err);

/** database_number() - read one number from a query that returns one row */
int database_number(struct database *db, const char *sql, int64_t *ret, struct error *err);

/** Finalizes a statement at the end of its scope. */
void database_finalize(struct sqlite3_stmt **statement);
#define _cleanup_statement_ _cleanup_(database_finalize)

#endif
