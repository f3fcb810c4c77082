// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_read.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "db/profile_reader.h"
#include "db/writer_lock.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

static const char *const statement_sql[READER_STATEMENTS] = {
	[READER_IMAGE] = "SELECT kind, identity_kind, identity, path FROM image WHERE id = ?1",
	/* PROFILE_PROBES_SUFFIX: the symbols of the kernel's image with the same build-id */
	[READER_SYMBOLS] = ("SELECT symbols, data, image FROM symbol WHERE image = ifnull(("
			    "SELECT kernel.id FROM image AS probes JOIN image AS kernel "
			    "ON kernel.kind = 1 AND kernel.identity_kind = 1 "
			    "AND kernel.identity = probes.identity WHERE probes.id = ?1 "
			    "AND probes.kind = 1 AND probes.identity_kind = 2), ?1)"),
	[READER_COMMAND] = "SELECT command FROM process WHERE epoch = ?1 AND pid = ?2",
	[READER_PROFILE] = ("SELECT samples, offsets, data FROM profile "
			    "WHERE epoch = ?1 AND image = ?2 AND event = ?3 AND pid = ?4"),
	[READER_SLICE_PROFILE] = ("SELECT samples, offsets, data FROM slice_profile "
				  "WHERE slice = ?1 AND image = ?2 AND event = ?3 AND pid = ?4"),
	[READER_EDGES] = ("SELECT pairs, total, data FROM edge "
			  "WHERE epoch = ?1 AND image = ?2 AND to_image = ?3 AND kind = ?4"),
	[READER_COUNTS] = ("SELECT ranges, total, data FROM execution "
			   "WHERE epoch = ?1 AND image = ?2 AND kind = ?4"),
	[READER_RECORDING] = ("SELECT metric, records, data FROM recording "
			      "WHERE epoch = ?1 AND image = ?2 AND mode = ?3"),
};

int profile_reader_statement(struct profile_reader *reader, enum reader_statement which,
			     sqlite3_stmt **ret, struct error *err)
{
	int r;

	if (reader->statements[which] == NULL) {
		r = database_prepare(&reader->db, statement_sql[which], &reader->statements[which],
				     err);
		if (r < 0)
			return r;
	}
	sqlite3_reset(reader->statements[which]);
	*ret = reader->statements[which];
	return 0;
}

const char *profile_reader_text(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text != NULL ? text : "";
}

int profile_reader_cannot(struct profile_reader *reader, int r, struct error *err, const char *what,
			  int64_t id)
{
	switch (r) {
	case -ENOMEM:
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	case -EPROTO:
		return error_set(err, EPROTO, "'%s': %s %lld was written by a newer version",
				 reader->db.path, what, (long long)id);
	}
	return database_corrupt(&reader->db, err, "%s %lld", what, (long long)id);
}

int profile_reader_open(struct profile_reader **ret, const char *path, struct error *err)
{
	struct profile_reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (reader == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = database_open_read(&reader->db, path, err);
	if (r < 0) {
		profile_reader_close(reader);
		return r;
	}
	*ret = reader;
	return 0;
}

static void finalize_statements(struct profile_reader *reader)
{
	size_t i;

	for (i = 0; i < READER_STATEMENTS; i++) {
		sqlite3_finalize(reader->statements[i]);
		reader->statements[i] = NULL;
	}
}

void profile_reader_close(struct profile_reader *reader)
{
	if (reader == NULL)
		return;
	finalize_statements(reader);
	database_close(&reader->db);
	free(reader->image_path);
	free(reader);
}

bool profile_reader_has_writer(const struct profile_reader *reader)
{
	return writer_lock_is_held(reader->db.path);
}

/* A file opened as immutable is never checked for changes, so open it again. */
static int reopen(struct profile_reader *reader, struct error *err)
{
	struct database fresh = {0};
	int r;

	r = database_open_read(&fresh, reader->db.path, err);
	if (r < 0) {
		database_close(&fresh);
		return r;
	}
	finalize_statements(reader);
	database_close(&reader->db);
	reader->db = fresh;
	return 0;
}

int profile_reader_snapshot(struct profile_reader *reader, struct error *err)
{
	int64_t ignored;
	int r = 0;

	if (reader->walks > 0)
		return error_set(err, EBUSY, "'%s': another read is in progress", reader->db.path);
	if (reader->db.immutable)
		r = reopen(reader, err);
	else if (!sqlite3_get_autocommit(reader->db.handle))
		r = database_exec(&reader->db, "COMMIT", "read", err);
	if (r == 0)
		r = database_exec(&reader->db, "BEGIN", "read", err);
	/* A transaction begins with its first read. */
	if (r == 0)
		r = database_number(&reader->db, "SELECT max(id) FROM epoch", &ignored, err);
	return r;
}

static bool epoch_selected(const struct profile_filter *filter, int64_t id)
{
	size_t i;

	if (filter->epochs == NULL)
		return true;
	for (i = 0; i < filter->epoch_count; i++) {
		if (filter->epochs[i] == id)
			return true;
	}
	return false;
}

static void read_epoch(sqlite3_stmt *statement, struct profile_epoch *epoch)
{
	*epoch = (struct profile_epoch){
		.id = sqlite3_column_int64(statement, 0),
		.start_ns = sqlite3_column_int64(statement, 1),
		.end_ns = sqlite3_column_int64(statement, 2),
		.open = sqlite3_column_int(statement, 3),
		.host = profile_reader_text(statement, 4),
		.machine_id = profile_reader_text(statement, 5),
		.cpu_model = profile_reader_text(statement, 6),
		.cpus = (uint32_t)sqlite3_column_int64(statement, 7),
		.kernel = profile_reader_text(statement, 8),
		.source = profile_reader_text(statement, 9),
		.source_reason = profile_reader_text(statement, 10),
		.label = profile_reader_text(statement, 11),
		.interrupts = (uint64_t)sqlite3_column_int64(statement, 12),
	};
}

int profile_reader_epochs(struct profile_reader *reader, const struct profile_filter *filter,
			  profile_epoch_fn visit, void *context, struct error *err)
{
	static const char sql[] =
		"SELECT epoch.id, start_ns, end_ns, open, host.name, machine_id, cpu_model, cpus, "
		"kernel, source, source_reason, label, interrupts "
		"FROM epoch LEFT JOIN host ON host.id = epoch.host "
		"WHERE (?1 = 0 OR end_ns >= ?1) AND (?2 = 0 OR start_ns < ?2) "
		"AND (?3 IS NULL OR host.name = ?3) ORDER BY start_ns, epoch.id";
	static const struct profile_filter all;
	_cleanup_walk_ struct profile_reader *walk = begin_walk(reader);
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	struct profile_epoch epoch;
	int r;

	if (filter == NULL)
		filter = &all;
	r = database_prepare(&walk->db, sql, &statement, err);
	if (r == 0)
		r = database_bind(&walk->db, statement, err, "iit", filter->since_ns,
				  filter->until_ns, filter->host);
	if (r < 0)
		return r;
	while ((r = database_step(&walk->db, statement, "read", err)) == 1) {
		read_epoch(statement, &epoch);
		if (!epoch_selected(filter, epoch.id))
			continue;
		r = profile_reader_clip(reader, filter, &epoch, err);
		if (r == 0)
			continue;
		if (r > 0)
			r = visit(context, &epoch);
		if (r != 0)
			return r;
	}
	return r;
}

int profile_reader_events(struct profile_reader *reader, int64_t epoch, profile_event_fn visit,
			  void *context, struct error *err)
{
	static const char sql[] = "SELECT number, name, unit, period_min, period_max, enabled_ns, "
				  "running_ns FROM event WHERE epoch = ?1 ORDER BY number";
	_cleanup_walk_ struct profile_reader *walk = begin_walk(reader);
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	struct profile_event event;
	int r;

	r = database_prepare(&walk->db, sql, &statement, err);
	if (r == 0)
		r = database_bind(&walk->db, statement, err, "i", epoch);
	if (r < 0)
		return r;
	while ((r = database_step(&walk->db, statement, "read", err)) == 1) {
		event.number = (uint32_t)sqlite3_column_int64(statement, 0);
		event.name = profile_reader_text(statement, 1);
		event.unit = profile_reader_text(statement, 2);
		event.period_min = (uint64_t)sqlite3_column_int64(statement, 3);
		event.period_max = (uint64_t)sqlite3_column_int64(statement, 4);
		event.enabled_ns = (uint64_t)sqlite3_column_int64(statement, 5);
		event.running_ns = (uint64_t)sqlite3_column_int64(statement, 6);
		r = visit(context, &event);
		if (r != 0)
			return r;
	}
	return r;
}

static int compare_epochs(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

bool epoch_set_has(const struct epoch_set *set, int64_t epoch)
{
	return set->count > 0 &&
	       bsearch(&epoch, set->ids, set->count, sizeof(*set->ids), compare_epochs) != NULL;
}

bool epoch_set_is_partial(const struct epoch_set *set, int64_t epoch)
{
	return set->partial_count > 0 && bsearch(&epoch, set->partial, set->partial_count,
						 sizeof(*set->partial), compare_epochs) != NULL;
}

static int note_epoch(void *context, const struct profile_epoch *epoch)
{
	struct epoch_set *set = context;

	if (array_reserve(&set->ids, &set->capacity, set->count + 1, sizeof(*set->ids)) < 0)
		return -ENOMEM;
	set->ids[set->count++] = epoch->id;
	if (epoch->slices == 0)
		return 0;
	if (array_reserve(&set->partial, &set->partial_capacity, set->partial_count + 1,
			  sizeof(*set->partial)) < 0)
		return -ENOMEM;
	set->partial[set->partial_count++] = epoch->id;
	return 0;
}

static int walk_epochs(struct profile_reader *reader, const struct profile_filter *filter,
		       reader_walk_fn walk, void *context, struct error *err)
{
	struct epoch_set set = {0};
	int r = profile_reader_epochs(reader, filter, note_epoch, &set, err);

	if (r == -ENOMEM)
		error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0) {
		if (set.count > 0)
			qsort(set.ids, set.count, sizeof(*set.ids), compare_epochs);
		if (set.partial_count > 0)
			qsort(set.partial, set.partial_count, sizeof(*set.partial), compare_epochs);
		r = walk(context, &set);
	}
	free(set.ids);
	free(set.partial);
	return r;
}

int profile_reader_walk(struct profile_reader *reader, const struct profile_filter *filter,
			reader_walk_fn walk, void *context, struct error *err)
{
	_cleanup_walk_ struct profile_reader *mark = begin_walk(reader);
	struct database *db = &mark->db;
	bool own = sqlite3_get_autocommit(db->handle);
	int r;

	r = own ? database_exec(db, "BEGIN", "read", err) : 0;
	if (r == 0)
		r = walk_epochs(reader, filter, walk, context, err);
	if (own)
		sqlite3_exec(db->handle, "COMMIT", NULL, NULL, NULL);
	return r;
}

/* Bytes of the header that select the log (2) or the rollback journal (1), see SQLite's format. */
#define HEADER_WRITE_VERSION 18
#define HEADER_READ_VERSION 19

int profile_reader_serialize(struct profile_reader *reader, unsigned char **ret, size_t *bytes,
			     struct error *err)
{
	sqlite3_int64 size = 0;
	unsigned char *data = sqlite3_serialize(reader->db.handle, "main", &size, 0);

	if (data == NULL || size <= HEADER_READ_VERSION) {
		sqlite3_free(data);
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	data[HEADER_WRITE_VERSION] = data[HEADER_READ_VERSION] = 1;
	*ret = data;
	*bytes = (size_t)size;
	return 0;
}

void profile_serialized_free(unsigned char *data)
{
	sqlite3_free(data);
}
