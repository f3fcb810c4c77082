// SPDX-License-Identifier: GPL-2.0-only
#include "db/ship_state.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "db/database.h"
#include "db/profile_reader.h"
#include "db/ship_schema.h"
#include "db/writer_lock.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define APPLICATION_ID 1145262163 /* "DCPS" */
#define STATE_VERSION 2
/* Pages of 4 KiB that the file may have for the next batch. */
#define FREE_PAGES_MAX 4096
#define BUSY_TIMEOUT_MS 5000

/*
 * struct ship_state - an open state file
 * @lock:    of writer_lock_take()
 * @request: the statement whose row ship_state_request() has returned, or NULL
 */
struct ship_state {
	struct database db;
	int lock;
	sqlite3_stmt *request;
};

/* Run a statement that returns no rows; parameters as for database_bind(). */
#define run(state, sql, err, types, ...)                                                           \
	({                                                                                         \
		_cleanup_statement_ sqlite3_stmt *run_statement = NULL;                            \
		int run_r = database_prepare(&(state)->db, sql, &run_statement, err);              \
		if (run_r == 0)                                                                    \
			run_r = database_bind(&(state)->db, run_statement, err, types,             \
					      __VA_ARGS__);                                        \
		if (run_r == 0)                                                                    \
			run_r = database_step(&(state)->db, run_statement, "write", err);          \
		run_r;                                                                             \
	})

/* Version 1 had no compressed requests. */
static int upgrade(struct ship_state *state, struct error *err)
{
	int r = database_exec(&state->db, "BEGIN IMMEDIATE", "write", err);

	if (r < 0)
		return r;
	r = database_exec(&state->db,
			  "ALTER TABLE request ADD COLUMN compressed INTEGER NOT NULL DEFAULT 0;"
			  "PRAGMA user_version = 2",
			  "upgrade", err);
	return ship_state_settle(state, r, err);
}

static int set_up(struct ship_state *state, bool read_only, struct error *err)
{
	struct database *db = &state->db;
	int64_t application, version, objects;
	int r = database_number(db, "PRAGMA application_id", &application, err);

	if (r == 0)
		r = database_number(db, "PRAGMA user_version", &version, err);
	if (r == 0)
		r = database_number(db, "SELECT count(*) FROM sqlite_schema", &objects, err);
	if (r < 0)
		return r;
	if (application == 0 && objects == 0) {
		r = database_exec(db, "BEGIN IMMEDIATE", "write", err);
		if (r == 0)
			r = database_exec(db, ship_state_sql, "set up", err);
		return ship_state_settle(state, r, err);
	}
	if (application != APPLICATION_ID)
		return error_set(err, EMEDIUMTYPE, "'%s' is not a state file of dcpiship",
				 db->path);
	if (version == 1 && !read_only)
		return upgrade(state, err);
	if (version != STATE_VERSION && version != 1)
		return error_set(err, EPROTO,
				 "'%s' was created by another version (schema %lld; supported: %d)",
				 db->path, (long long)version, STATE_VERSION);
	return 0;
}

/* Open the file, which is created if it does not exist and may be written. */
static int open_handle(struct ship_state *state, bool read_only, struct error *err)
{
	int flags = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	int rc = sqlite3_open_v2(state->db.path, &state->db.handle,
				 flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, NULL);

	if (rc != SQLITE_OK)
		return database_fail(&state->db, rc, "open", err);
	sqlite3_extended_result_codes(state->db.handle, 1);
	sqlite3_busy_timeout(state->db.handle, BUSY_TIMEOUT_MS);
	sqlite3_db_config(state->db.handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(state->db.handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	if (read_only)
		return 0;
	return database_exec(&state->db,
			     "PRAGMA cache_size = -1024; PRAGMA auto_vacuum = INCREMENTAL;"
			     "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
			     "PRAGMA journal_size_limit = 1048576; PRAGMA foreign_keys = ON",
			     "open", err);
}

int ship_state_open(struct ship_state **ret, const char *path, bool read_only, struct error *err)
{
	struct ship_state *state = calloc(1, sizeof(*state));
	int r = 0;

	if (state == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	state->lock = -1;
	state->db.path = strdup(path);
	if (state->db.path == NULL)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0 && !read_only)
		r = writer_lock_take(&state->lock, path, err);
	if (r == 0)
		r = open_handle(state, read_only, err);
	if (r == 0)
		r = set_up(state, read_only, err);
	if (r < 0) {
		ship_state_close(state);
		return r;
	}
	*ret = state;
	return 0;
}

void ship_state_close(struct ship_state *state)
{
	if (state == NULL)
		return;
	sqlite3_finalize(state->request);
	sqlite3_close(state->db.handle);
	free(state->db.path);
	if (state->lock >= 0)
		close(state->lock);
	free(state);
}

int ship_state_begin(struct ship_state *state, struct error *err)
{
	return database_exec(&state->db, "BEGIN IMMEDIATE", "write", err);
}

int ship_state_settle(struct ship_state *state, int r, struct error *err)
{
	if (r >= 0)
		r = database_exec(&state->db, "COMMIT", "write", err);
	if (r < 0 && !sqlite3_get_autocommit(state->db.handle))
		sqlite3_exec(state->db.handle, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

int ship_state_setting(struct ship_state *state, const char *name, const char *value,
		       struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	const char *found;
	int r = database_prepare(&state->db, "SELECT value FROM setting WHERE name = ?1",
				 &statement, err);

	if (r == 0)
		r = database_bind(&state->db, statement, err, "t", name);
	if (r == 0)
		r = database_step(&state->db, statement, "read", err);
	if (r < 0)
		return r;
	if (r == 0)
		return run(state, "INSERT INTO setting VALUES (?1, ?2)", err, "tt", name, value);
	found = (const char *)sqlite3_column_text(statement, 0);
	if (found == NULL || strcmp(found, value) != 0)
		return error_set(err, EINVAL, "'%s' belongs to the %s '%s', not '%s'",
				 state->db.path, name, found != NULL ? found : "", value);
	return 0;
}

/* Read a row of the table epoch: uuid first. */
static int epoch_read(struct ship_state *state, sqlite3_stmt *statement, struct ship_epoch *epoch,
		      struct error *err)
{
	const void *uuid = sqlite3_column_blob(statement, 0);
	const void *host = sqlite3_column_blob(statement, 1);

	if (uuid == NULL || sqlite3_column_bytes(statement, 0) != SHIP_UUID_BYTES || host == NULL ||
	    sqlite3_column_bytes(statement, 1) != SHIP_UUID_BYTES)
		return database_corrupt(&state->db, err, "an epoch");
	memcpy(epoch->uuid, uuid, SHIP_UUID_BYTES);
	memcpy(epoch->host, host, SHIP_UUID_BYTES);
	epoch->start_ns = sqlite3_column_int64(statement, 2);
	epoch->end_ns = sqlite3_column_int64(statement, 3);
	epoch->cursor_ns = sqlite3_column_int64(statement, 4);
	epoch->interrupts = (uint64_t)sqlite3_column_int64(statement, 5);
	epoch->delivered = (uint64_t)sqlite3_column_int64(statement, 6);
	epoch->finished = sqlite3_column_int(statement, 7) != 0;
	return 1;
}

#define EPOCH_COLUMNS "uuid, host, start_ns, end_ns, cursor_ns, interrupts, delivered, finished"

int ship_state_epoch(struct ship_state *state, struct ship_epoch *epoch, struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = database_prepare(&state->db, "SELECT " EPOCH_COLUMNS " FROM epoch WHERE uuid = ?1",
				 &statement, err);

	if (r == 0)
		r = database_bind(&state->db, statement, err, "b", epoch->uuid,
				  (size_t)SHIP_UUID_BYTES);
	if (r == 0)
		r = database_step(&state->db, statement, "read", err);
	return r == 1 ? epoch_read(state, statement, epoch, err) : r;
}

int ship_state_epochs(struct ship_state *state, ship_epoch_fn visit, void *context,
		      struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = database_prepare(&state->db,
				 "SELECT " EPOCH_COLUMNS " FROM epoch ORDER BY start_ns, uuid",
				 &statement, err);

	while (r == 0 && (r = database_step(&state->db, statement, "read", err)) == 1) {
		struct ship_epoch epoch;

		r = epoch_read(state, statement, &epoch, err);
		if (r > 0)
			r = visit(context, &epoch);
		if (r != 0)
			return r;
	}
	return r;
}

int ship_state_epoch_set(struct ship_state *state, const struct ship_epoch *epoch,
			 struct error *err)
{
	int r = run(state,
		    "INSERT INTO epoch VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (uuid) "
		    "DO UPDATE SET end_ns = ?4, cursor_ns = ?5, interrupts = ?6, delivered = ?7, "
		    "finished = ?8",
		    err, "bbiiiiii", epoch->uuid, (size_t)SHIP_UUID_BYTES, epoch->host,
		    (size_t)SHIP_UUID_BYTES, epoch->start_ns, epoch->end_ns, epoch->cursor_ns,
		    (int64_t)epoch->interrupts, (int64_t)epoch->delivered,
		    (int64_t)epoch->finished);

	if (r == 0 && epoch->finished)
		r = run(state, "DELETE FROM slice WHERE epoch = ?1", err, "b", epoch->uuid,
			(size_t)SHIP_UUID_BYTES);
	return r;
}

int ship_state_epoch_drop(struct ship_state *state, const uint8_t uuid[SHIP_UUID_BYTES],
			  struct error *err)
{
	int r = run(state, "DELETE FROM epoch WHERE uuid = ?1", err, "b", uuid,
		    (size_t)SHIP_UUID_BYTES);

	return r == 0 ? run(state, "DELETE FROM description WHERE substr(key, 2) = ?1", err, "b",
			    uuid, (size_t)SHIP_UUID_BYTES)
		      : r;
}

int ship_state_slice_add(struct ship_state *state, const uint8_t uuid[SHIP_UUID_BYTES],
			 const struct profile_slice *slice, struct error *err)
{
	return run(state, "INSERT INTO slice VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING", err,
		   "biii", uuid, (size_t)SHIP_UUID_BYTES, slice->start_ns, slice->end_ns,
		   (int64_t)slice->interrupts);
}

int ship_state_slice_drop(struct ship_state *state, const uint8_t uuid[SHIP_UUID_BYTES],
			  const struct profile_slice *slice, struct error *err)
{
	return run(state, "DELETE FROM slice WHERE epoch = ?1 AND start_ns = ?2 AND end_ns = ?3",
		   err, "bii", uuid, (size_t)SHIP_UUID_BYTES, slice->start_ns, slice->end_ns);
}

int ship_state_slices(struct ship_state *state, const uint8_t uuid[SHIP_UUID_BYTES],
		      const struct profile_slice *range, profile_slice_fn visit, void *context,
		      struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = database_prepare(&state->db,
				 "SELECT start_ns, end_ns, interrupts FROM slice WHERE epoch = ?1 "
				 "AND start_ns BETWEEN ?2 AND ?3 AND end_ns <= ?3 "
				 "ORDER BY start_ns, end_ns",
				 &statement, err);

	if (r == 0)
		r = database_bind(&state->db, statement, err, "bii", uuid, (size_t)SHIP_UUID_BYTES,
				  range->start_ns, range->end_ns);
	return r < 0 ? r : profile_slices_visit(&state->db, statement, visit, context, err);
}

int ship_state_describe(struct ship_state *state, const uint8_t *key, size_t key_bytes,
			const uint8_t digest[SHIP_DIGEST_BYTES], struct error *err)
{
	int r = run(state,
		    "INSERT INTO description VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE "
		    "SET digest = excluded.digest WHERE digest <> excluded.digest",
		    err, "bb", key, key_bytes, digest, (size_t)SHIP_DIGEST_BYTES);

	return r < 0 ? r : sqlite3_changes(state->db.handle) > 0;
}

int ship_state_batch_begin(struct ship_state *state, int64_t *number, struct error *err)
{
	int r = database_exec(&state->db, "INSERT INTO batch (interrupts) VALUES (0)", "write",
			      err);

	*number = sqlite3_last_insert_rowid(state->db.handle);
	return r;
}

int ship_state_batch_end(struct ship_state *state, int64_t number, uint64_t interrupts,
			 struct error *err)
{
	return run(state, "UPDATE batch SET interrupts = ?2 WHERE number = ?1", err, "ii", number,
		   (int64_t)interrupts);
}

int ship_state_request_add(struct ship_state *state, int64_t number,
			   const struct ship_request *request, struct error *err)
{
	return run(state,
		   "INSERT INTO request (batch, target, expect, entries, body, compressed) "
		   "VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
		   err, "ittibi", number, request->target, request->expect,
		   (int64_t)request->entries, request->body, request->bytes,
		   (int64_t)request->compressed);
}

int ship_state_batch(struct ship_state *state, struct ship_batch *ret, struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = database_prepare(&state->db,
				 "SELECT number, interrupts FROM batch WHERE quarantined = 0 "
				 "ORDER BY number LIMIT 1",
				 &statement, err);

	if (r == 0)
		r = database_step(&state->db, statement, "read", err);
	if (r == 1)
		*ret = (struct ship_batch){
			.number = sqlite3_column_int64(statement, 0),
			.interrupts = (uint64_t)sqlite3_column_int64(statement, 1),
		};
	return r;
}

/* The row that ship_state_request() has returned is no longer needed. */
static void request_release(struct ship_state *state)
{
	if (state->request != NULL)
		sqlite3_reset(state->request);
}

int ship_state_request(struct ship_state *state, int64_t number, int64_t after,
		       struct ship_request *ret, struct error *err)
{
	sqlite3_stmt *statement;
	int r = 0;

	request_release(state);
	if (state->request == NULL)
		r = database_prepare(
			&state->db,
			"SELECT sequence, target, expect, entries, body, compressed FROM request "
			"WHERE batch = ?1 AND sent = 0 AND sequence > ?2 "
			"ORDER BY sequence LIMIT 1",
			&state->request, err);
	statement = state->request;
	if (r == 0)
		r = database_bind(&state->db, statement, err, "ii", number, after);
	if (r == 0)
		r = database_step(&state->db, statement, "read", err);
	if (r != 1)
		return r;
	*ret = (struct ship_request){
		.sequence = sqlite3_column_int64(statement, 0),
		.target = (const char *)sqlite3_column_text(statement, 1),
		.expect = (const char *)sqlite3_column_text(statement, 2),
		.entries = (uint64_t)sqlite3_column_int64(statement, 3),
		.body = sqlite3_column_blob(statement, 4),
		.bytes = (size_t)sqlite3_column_bytes(statement, 4),
		.compressed = sqlite3_column_int(statement, 5) != 0,
	};
	if (ret->target == NULL || ret->expect == NULL || ret->body == NULL) {
		sqlite3_reset(statement);
		return database_corrupt(&state->db, err, "a request");
	}
	return 1;
}

int ship_state_request_sent(struct ship_state *state, int64_t sequence, bool sent,
			    struct error *err)
{
	request_release(state);
	return run(state, "UPDATE request SET sent = ?2 WHERE sequence = ?1", err, "ii", sequence,
		   (int64_t)sent);
}

int ship_state_batch_restart(struct ship_state *state, int64_t number, struct error *err)
{
	request_release(state);
	return run(state, "UPDATE request SET sent = 0 WHERE batch = ?1", err, "i", number);
}

int ship_state_batch_delivered(struct ship_state *state, int64_t number, struct error *err)
{
	int64_t pages = 0;
	int r;

	request_release(state);
	r = run(state, "DELETE FROM batch WHERE number = ?1", err, "i", number);
	if (r == 0)
		r = database_number(&state->db, "PRAGMA freelist_count", &pages, err);
	/* The next batch uses the free pages, unless this was the end of a backlog. */
	return r == 0 && pages > FREE_PAGES_MAX
		       ? database_exec(&state->db, "PRAGMA incremental_vacuum(512)", "write", err)
		       : r;
}

int ship_state_batch_quarantine(struct ship_state *state, int64_t number, const char *message,
				struct error *err)
{
	request_release(state);
	return run(state, "UPDATE batch SET quarantined = 1, message = ?2 WHERE number = ?1", err,
		   "it", number, message);
}

int ship_state_quarantined(struct ship_state *state, uint64_t *batches, uint64_t *interrupts,
			   struct error *err)
{
	int64_t count = 0, sum = 0;
	int r = database_number(&state->db, "SELECT count(*) FROM batch WHERE quarantined = 1",
				&count, err);

	if (r == 0)
		r = database_number(&state->db,
				    "SELECT ifnull(sum(interrupts), 0) FROM batch "
				    "WHERE quarantined = 1",
				    &sum, err);
	*batches = (uint64_t)count;
	*interrupts = (uint64_t)sum;
	return r;
}

int ship_state_quarantine_list(struct ship_state *state, ship_quarantine_fn visit, void *context,
			       struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = database_prepare(&state->db,
				 "SELECT number, interrupts, message FROM batch "
				 "WHERE quarantined = 1 ORDER BY number",
				 &statement, err);

	while (r == 0 && (r = database_step(&state->db, statement, "read", err)) == 1) {
		const struct ship_batch batch = {
			.number = sqlite3_column_int64(statement, 0),
			.interrupts = (uint64_t)sqlite3_column_int64(statement, 1),
		};

		r = visit(context, &batch, (const char *)sqlite3_column_text(statement, 2));
		if (r != 0)
			return r;
	}
	return r;
}

int ship_state_release(struct ship_state *state, bool complete, struct error *err)
{
	int r = ship_state_begin(state, err), released = 0;

	if (r < 0)
		return r;
	if (complete)
		r = database_exec(&state->db,
				  "UPDATE request SET sent = 0 WHERE batch IN "
				  "(SELECT number FROM batch WHERE quarantined = 1)",
				  "write", err);
	if (r == 0)
		r = database_exec(&state->db,
				  "UPDATE batch SET quarantined = 0 WHERE quarantined = 1", "write",
				  err);
	if (r == 0)
		released = sqlite3_changes(state->db.handle);
	r = ship_state_settle(state, r, err);
	return r < 0 ? r : released;
}
