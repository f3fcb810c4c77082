// SPDX-License-Identifier: GPL-2.0-only
#include "db/database.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "db/broker_vfs.h"
#include "db/schema.h"
#include "lib/broker.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define APPLICATION_ID 1145262153 /* "DCPI" */
#define BUSY_TIMEOUT_MS 5000

static int io_errno(int cause)
{
	switch (cause) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return ENOSPC;
	case EROFS:
	case EACCES:
	case EPERM:
	case ENOENT:
	case EMFILE:
	case ENFILE:
		return cause;
	}
	return EIO;
}

static int to_errno(int rc, int cause)
{
	if (rc == SQLITE_IOERR_NOMEM)
		return ENOMEM;
	switch (rc & 0xff) {
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_IOERR:
		return io_errno(cause);
	case SQLITE_CANTOPEN:
		return cause == 0 ? EIO : io_errno(cause);
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return EACCES;
	case SQLITE_READONLY:
		return cause == EROFS ? EROFS : EACCES;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return EBUSY;
	case SQLITE_NOTADB:
		return EMEDIUMTYPE;
	case SQLITE_CORRUPT:
	case SQLITE_ERROR: /* the statements are correct, so the schema must be wrong */
	case SQLITE_MISMATCH:
	case SQLITE_SCHEMA:
		return EBADMSG;
	case SQLITE_NOMEM:
		return ENOMEM;
	case SQLITE_TOOBIG:
		return E2BIG;
	case SQLITE_CONSTRAINT:
	case SQLITE_RANGE:
		return EINVAL;
	}
	return EIO;
}

/*
 * Return the errno of a failure. For a failed write other than ENOSPC, only the file object has it;
 * in a transaction, that file is the log.
 */
static int system_errno(sqlite3 *handle, int rc)
{
	sqlite3_file *log = NULL;
	int errnum = 0;

	if (handle == NULL)
		return 0;
	if (rc != SQLITE_IOERR_WRITE)
		return sqlite3_system_errno(handle);
	sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
	if (log != NULL && log->pMethods != NULL)
		log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &errnum);
	if (errnum == 0)
		sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &errnum);
	return errnum;
}

int database_fail(struct database *db, int rc, const char *doing, struct error *err)
{
	int errnum = to_errno(rc, system_errno(db->handle, rc));

	return error_set(err, errnum, "cannot %s '%s': %s", doing, db->path,
			 db->handle != NULL ? sqlite3_errmsg(db->handle) : sqlite3_errstr(rc));
}

int database_corrupt(struct database *db, struct error *err, const char *what, ...)
{
	char text[256];
	va_list args;

	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	return error_set(err, EBADMSG, ERROR_DAMAGED ": %s", db->path, text);
}

int database_exec(struct database *db, const char *sql, const char *doing, struct error *err)
{
	int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : database_fail(db, rc, doing, err);
}

int database_prepare(struct database *db, const char *sql, sqlite3_stmt **ret, struct error *err)
{
	int rc = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);

	return rc == SQLITE_OK ? 0 : database_fail(db, rc, "read", err);
}

int database_bind(struct database *db, sqlite3_stmt *statement, struct error *err,
		  const char *types, ...)
{
	int rc = SQLITE_OK, column;
	const void *data;
	va_list args;

	va_start(args, types);
	for (column = 1; *types != '\0' && rc == SQLITE_OK; types++, column++) {
		switch (*types) {
		case 'i':
			rc = sqlite3_bind_int64(statement, column, va_arg(args, int64_t));
			break;
		case 't':
			rc = sqlite3_bind_text(statement, column, va_arg(args, const char *), -1,
					       SQLITE_STATIC);
			break;
		case 'b':
			data = va_arg(args, const void *);
			rc = sqlite3_bind_blob64(statement, column, data, va_arg(args, size_t),
						 SQLITE_STATIC);
			break;
		}
	}
	va_end(args);
	return rc == SQLITE_OK ? 0 : database_fail(db, rc, "store values in", err);
}

int database_step(struct database *db, sqlite3_stmt *statement, const char *doing,
		  struct error *err)
{
	int rc = sqlite3_step(statement), r = 0;

	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE)
		r = database_fail(db, rc, doing, err);
	sqlite3_reset(statement);
	return r;
}

void database_finalize(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

int database_number(struct database *db, const char *sql, int64_t *ret, struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r;

	r = database_prepare(db, sql, &statement, err);
	if (r < 0)
		return r;
	r = database_step(db, statement, "read", err);
	if (r < 0)
		return r;
	*ret = r == 1 ? sqlite3_column_int64(statement, 0) : 0;
	return 0;
}

int database_has(struct database *db, int version, struct error *err)
{
	int64_t found;
	int r = database_number(db, "PRAGMA user_version", &found, err);

	return r < 0 ? r : found >= version;
}

void database_close(struct database *db)
{
	database_file_close(&db->file, db->handle);
	free(db->path);
	memset(db, 0, sizeof(*db));
}

/* Identify the file and its schema version by its header. */
static int identify(struct database *db, int64_t *version, struct error *err)
{
	int64_t application, objects;
	int r;

	r = database_number(db, "PRAGMA application_id", &application, err);
	if (r == 0)
		r = database_number(db, "PRAGMA user_version", version, err);
	if (r == 0)
		r = database_number(db, "SELECT count(*) FROM sqlite_schema", &objects, err);
	if (r < 0)
		return r;
	if (application == 0 && *version == 0 && objects == 0)
		return 0;
	if (application != APPLICATION_ID)
		return error_set(err, EMEDIUMTYPE, "'%s' is not a profile database", db->path);
	if (*version > DATABASE_VERSION)
		return error_set(
			err, EPROTO,
			"'%s' was created by a newer version (schema %lld; supported: up to %d)",
			db->path, (long long)*version, DATABASE_VERSION);
	if (*version > 0 && *version < DATABASE_VERSION_MIN)
		return error_set(err, EPROTO,
				 "'%s' was created by an unsupported version (schema %lld; "
				 "supported: %d to %d)",
				 db->path, (long long)*version, DATABASE_VERSION_MIN,
				 DATABASE_VERSION);
	if (*version < 1)
		return database_corrupt(db, err, "schema version %lld", (long long)*version);
	return 0;
}

/* The tables that each version of the schema added. */
static const struct schema_tables {
	int64_t version;
	const char *names;
	int64_t count;
} schema_tables[] = {
	{DATABASE_VERSION_MIN,
	 "'host', 'epoch', 'event', 'counter', 'image', 'symbol', 'profile', 'process', 'edge', "
	 "'label', 'share', 'code'",
	 12},
	{4, "'execution'", 1},
	{5, "'recording'", 1},
	{8, "'slice', 'slice_counter', 'slice_profile', 'slice_share'", 4},
};

/* A hostile file could have views or triggers with the names of these tables. */
static int check_tables(struct database *db, int64_t version, struct error *err)
{
	int64_t triggers, found;
	bool ours;
	int r = database_number(db, "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'",
				&triggers, err);

	ours = r == 0 && triggers == 0;
	for (size_t i = 0; r == 0 && i < sizeof(schema_tables) / sizeof(*schema_tables); i++) {
		const struct schema_tables *tables = &schema_tables[i];
		char sql[256];

		if (version < tables->version)
			break;
		snprintf(sql, sizeof(sql),
			 "SELECT count(*) FROM sqlite_schema WHERE type = 'table' "
			 "AND rootpage > 0 AND name IN (%s)",
			 tables->names);
		r = database_number(db, sql, &found, err);
		ours &= r == 0 && found == tables->count;
	}
	if (r == 0 && !ours)
		return database_corrupt(db, err, "its tables are not those of a profile database");
	return r;
}

/* Apply the whole schema to an empty file; steps[n] migrates version n to n + 1. */
static int migrate(struct database *db, int64_t version, struct error *err)
{
	static const char *const steps[DATABASE_VERSION] = {
		[3] = schema_from_3_sql, [4] = schema_from_4_sql, [5] = schema_from_5_sql,
		[6] = schema_from_6_sql, [7] = schema_from_7_sql,
	};
	int r;

	if (version == DATABASE_VERSION)
		return 0;
	r = database_exec(db, "BEGIN IMMEDIATE", "write", err);
	if (r == 0 && version == 0)
		r = database_exec(db, schema_sql, "set up", err);
	for (; r == 0 && version > 0 && version < DATABASE_VERSION; version++)
		r = database_exec(db, steps[version], "migrate", err);
	if (r == 0)
		r = database_exec(db, "COMMIT", "write", err);
	if (r < 0 && !sqlite3_get_autocommit(db->handle))
		sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

/* Limit the actions that a hostile file can trigger in SQLite. */
static int harden(struct database *db, struct error *err)
{
	sqlite3_extended_result_codes(db->handle, 1);
	sqlite3_busy_timeout(db->handle, BUSY_TIMEOUT_MS);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	/* Temporary files would need access to the file system. */
	if (broker_socket() >= 0)
		sqlite3_exec(db->handle, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
	return database_exec(db, "PRAGMA cell_size_check = ON", "open", err);
}

static int open_handle(struct database *db, const char *name, int flags, struct error *err)
{
	int rc;

	broker_vfs_use();
	rc = sqlite3_open_v2(name, &db->handle, flags | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc != SQLITE_OK)
		return database_fail(db, rc, "open", err);
	return harden(db, err);
}

/*
 * Use an absolute path: it never looks like SQLite's special names, and all symbolic links to a
 * database lead to the same lock and log.
 */
static int set_path(struct database *db, const char *path, struct error *err)
{
	struct stat status;
	int r;

	if (*path == '\0')
		return error_set(err, ENOENT, "the name of the database is empty");
	db->path = broker_realpath(path);
	if (db->path == NULL)
		return error_set_errno(err, ERROR_OPEN, path);
	r = broker_stat(db->path, &status);
	if (r < 0)
		return error_set(err, -r, ERROR_OPEN ": %s", path, strerror(-r));
	if (S_ISDIR(status.st_mode))
		return error_set(err, EISDIR, "'%s' is a directory", path);
	if (!S_ISREG(status.st_mode))
		return error_set(err, EMEDIUMTYPE, "'%s' is not a regular file", path);
	return 0;
}

static int hold_file(struct database *db, const char *path, struct error *err)
{
	int r = database_file_hold(&db->file, path, db->path);

	return r < 0 ? error_set(err, -r, ERROR_OPEN ": %s", path, strerror(-r)) : 0;
}

int database_open_write(struct database *db, const char *path, struct error *err)
{
	int64_t version;
	int r;

	r = set_path(db, path, err);
	if (r == 0)
		r = hold_file(db, path, err);
	if (r == 0)
		r = open_handle(db, db->path, SQLITE_OPEN_READWRITE, err);
	if (r == 0)
		r = identify(db, &version, err);
	if (r < 0)
		return r;
	/*
	 * Set the cache size explicitly, in KiB: a library may be built with another default. It
	 * bounds the memory of the daemon for merges of any size.
	 *
	 * The next three settings are stored in the file and must come before the first table. Most
	 * profiles are a few hundred bytes to some kilobytes: small pages waste a third less of the
	 * file than SQLite's usual 4 KiB.
	 */
	r = database_exec(db,
			  "PRAGMA cache_size = -2048;"
			  "PRAGMA page_size = 1024;"
			  "PRAGMA auto_vacuum = INCREMENTAL;"
			  "PRAGMA journal_mode = WAL;"
			  "PRAGMA journal_size_limit = 4194304;"
			  "PRAGMA synchronous = FULL;"
			  "PRAGMA foreign_keys = ON",
			  "open", err);
	if (r == 0)
		r = migrate(db, version, err);
	if (r == 0)
		r = check_tables(db, DATABASE_VERSION, err);
	/* SQLite releases shared memory only for databases with a log. */
	if (r == 0)
		database_file_note(&db->file, db->handle);
	return r;
}

static bool log_has_contents(const char *path)
{
	_cleanup_free_ char *log = NULL;
	struct stat status;

	if (asprintf(&log, "%s-wal", path) < 0) {
		log = NULL;
		return true;
	}
	return broker_stat(log, &status) == 0 && status.st_size > 0;
}

/* Return "file:PATH?immutable=1" with the path's special characters escaped. */
static char *immutable_uri(const char *path)
{
	static const char suffix[] = "?immutable=1";
	char *uri = malloc(5 + 3 * strlen(path) + sizeof(suffix));
	char *p = uri;

	if (uri == NULL)
		return NULL;
	p = stpcpy(p, "file:");
	for (; *path != '\0'; path++) {
		if (strchr("%?#", *path) != NULL)
			p += sprintf(p, "%%%02x", (unsigned char)*path);
		else
			*p++ = *path;
	}
	strcpy(p, suffix);
	return uri;
}

static int open_immutable(struct database *db, struct error *err)
{
	_cleanup_free_ char *uri = immutable_uri(db->path);

	if (uri == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	sqlite3_close(db->handle);
	db->handle = NULL;
	db->immutable = true;
	return open_handle(db, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
}

/* Return true if SQLite failed because it could not create or open the shared memory. */
static bool cannot_share(struct database *db)
{
	int rc = sqlite3_errcode(db->handle) & 0xff;

	return rc == SQLITE_CANTOPEN || rc == SQLITE_READONLY || rc == SQLITE_PERM;
}

int database_open_read(struct database *db, const char *path, struct error *err)
{
	int64_t version;
	int r;

	r = set_path(db, path, err);
	if (r < 0)
		return r;
	r = broker_access(db->path, R_OK);
	if (r < 0)
		return error_set(err, -r, ERROR_OPEN ": %s", path, strerror(-r));
	r = open_handle(db, db->path, SQLITE_OPEN_READONLY, err);
	if (r == 0)
		r = identify(db, &version, err);
	if (r < 0 && db->handle != NULL && cannot_share(db)) {
		if (log_has_contents(db->path))
			return error_set(err, EACCES,
					 "cannot read '%s': it has a write-ahead log, which needs "
					 "a writable directory: copy both files to one",
					 db->path);
		r = open_immutable(db, err);
		if (r == 0)
			r = identify(db, &version, err);
	}
	if (r < 0)
		return r;
	if (version == 0)
		return error_set(err, EMEDIUMTYPE, "'%s' is empty, not a profile database", path);
	return check_tables(db, version, err);
}
