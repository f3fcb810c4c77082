// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_read.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/profile_owners.h"
#include "db/profile_reader.h"
#include "db/slice_rows.h"
#include "db/symbol_blob.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Identifies a row of the table of profiles. */
union profile_key {
	struct {
		int64_t image;
		int64_t epoch;
		int64_t event;
		int64_t pid;
	};
	int64_t parts[READER_KEY_PARTS];
};

static int find_profile(struct profile_reader *reader, const union profile_key *key,
			sqlite3_stmt **statement, struct error *err)
{
	int r = profile_reader_statement(reader, READER_PROFILE, statement, err);

	if (r == 0)
		r = database_bind(&reader->db, *statement, err, "iiii", key->epoch, key->image,
				  key->event, key->pid);
	if (r == 0)
		r = database_step(&reader->db, *statement, "read", err);
	if (r < 0)
		return r;
	if (r == 0)
		return database_corrupt(&reader->db, err,
					"an index refers to a profile of image %" PRId64
					", which does not exist",
					key->image);
	return 0;
}

/* Read only the sum: SQLite then does not read the blob, which comes last in its row. */
static int read_total(struct profile_reader *reader, const union profile_key *key, uint64_t *total,
		      struct error *err)
{
	sqlite3_stmt *statement;
	int64_t samples;
	int r = find_profile(reader, key, &statement, err);

	if (r < 0)
		return r;
	samples = sqlite3_column_int64(statement, 0);
	sqlite3_reset(statement);
	if (samples < 0)
		return profile_reader_cannot(reader, -EBADMSG, err, "a profile of image",
					     key->image);
	*total = (uint64_t)samples;
	return 0;
}

/*
 * Read and decode one row, and compare the blob with the columns next to it.
 * @partial: out: only samples in the filter's ranges were returned
 */
static int read_profile(struct profile_reader *reader, const union profile_key *key,
			const struct profile_filter *filter, struct profile_pairs *pairs,
			bool *partial, struct error *err)
{
	int64_t samples, offsets;
	sqlite3_stmt *statement;
	uint64_t decoded = 0;
	int r = find_profile(reader, key, &statement, err);

	if (r < 0)
		return r;
	samples = sqlite3_column_int64(statement, 0);
	offsets = sqlite3_column_int64(statement, 1);
	*partial = filter->ranges != NULL && (uint64_t)offsets > filter->whole_max;
	r = profile_blob_decode_in(
		pairs, profile_blob_key(key->epoch, key->image, (uint32_t)key->event, key->pid),
		*partial ? filter->ranges : NULL, sqlite3_column_blob(statement, 2),
		(size_t)sqlite3_column_bytes(statement, 2), &decoded);
	sqlite3_reset(statement);
	if (r == 0 && (pairs->total != (uint64_t)samples || decoded != (uint64_t)offsets))
		r = -EBADMSG;
	return r < 0 ? profile_reader_cannot(reader, r, err, "a profile of image", key->image) : 0;
}

/*
 * An iteration over profiles: selection, position, and reused memory.
 * @rows:  slices of profiles, for epochs whose samples are read from slices
 * @pairs: samples of a profile; @part, @sum: of a slice, and of the slices before it
 */
struct profile_walk {
	struct profile_reader *reader;
	const struct profile_filter *filter;
	profile_fn visit;
	void *context;
	struct error *err;
	union profile_key last;
	bool started;
	const struct epoch_set *epochs;
	struct profile_owners owners;
	struct slice_rows rows;
	struct profile_pairs pairs;
	struct profile_pairs part;
	struct profile_pairs sum;
	bool totals; /* samples are not needed */
};

static bool walk_selects(const struct profile_walk *walk, const union profile_key *key,
			 const char *event_name)
{
	enum profile_profiler profiler = walk->filter->profiler;

	if (walk->filter->event != NULL && strcmp(walk->filter->event, event_name) != 0)
		return false;
	if (profiler != PROFILE_PROFILER_TOO &&
	    (profiler == PROFILE_PROFILER_ONLY) != (key->pid == PROFILE_PID_PROFILER))
		return false;
	return epoch_set_has(walk->epochs, key->epoch);
}

static int slices_total(struct profile_walk *walk, const struct slice_row *rows, size_t count)
{
	walk->pairs.total = 0;
	for (size_t i = 0; i < count; i++) {
		if (rows[i].samples < 0 ||
		    __builtin_add_overflow(walk->pairs.total, (uint64_t)rows[i].samples,
					   &walk->pairs.total) ||
		    walk->pairs.total > PROFILE_BLOB_TOTAL_MAX)
			return profile_reader_cannot(walk->reader, -EBADMSG, walk->err,
						     "a slice of image", rows[i].key[0]);
	}
	return 0;
}

/* Read and decode a slice's row into walk->part. */
static int slice_decode(struct profile_walk *walk, const struct slice_row *row, bool partial)
{
	struct database *db = &walk->reader->db;
	sqlite3_stmt *statement;
	uint64_t decoded = 0;
	int r = profile_reader_statement(walk->reader, READER_SLICE_PROFILE, &statement, walk->err);

	if (r == 0)
		r = database_bind(db, statement, walk->err, "iiii", row->slice, row->key[0],
				  row->key[2], row->key[3]);
	if (r == 0)
		r = database_step(db, statement, "read", walk->err);
	if (r < 0)
		return r;
	r = profile_blob_decode_in(&walk->part,
				   profile_blob_key(PROFILE_BLOB_SLICE(row->slice), row->key[0],
						    (uint32_t)row->key[2], row->key[3]),
				   partial ? walk->filter->ranges : NULL,
				   sqlite3_column_blob(statement, 2),
				   (size_t)sqlite3_column_bytes(statement, 2), &decoded);
	sqlite3_reset(statement);
	if (r == 0 &&
	    (walk->part.total != (uint64_t)row->samples || decoded != (uint64_t)row->offsets))
		r = -EBADMSG;
	return r < 0 ? profile_reader_cannot(walk->reader, r, walk->err, "a slice of image",
					     row->key[0])
		     : 0;
}

/* Sum up the samples of slices. @partial: as in struct profile */
static int slices_read(struct profile_walk *walk, const struct slice_row *rows, size_t count,
		       bool *partial)
{
	const struct profile_filter *filter = walk->filter;
	uint64_t offsets = 0, total;
	int r = slices_total(walk, rows, count);

	if (r < 0)
		return r;
	total = walk->pairs.total;
	walk->pairs.count = 0;
	walk->pairs.total = 0;
	for (size_t i = 0; i < count; i++)
		offsets += (uint64_t)rows[i].offsets;
	*partial = filter->ranges != NULL && offsets > filter->whole_max;
	for (size_t i = 0; i < count; i++) {
		r = slice_decode(walk, &rows[i], *partial);
		if (r == 0)
			r = profile_pairs_add(&walk->pairs, &walk->sum, walk->part.samples,
					      walk->part.count);
		if (r == -ENOMEM)
			return error_set(walk->err, ENOMEM, ERROR_NO_MEMORY);
		if (r < 0)
			return r;
	}
	walk->pairs.total = total;
	return 0;
}

/* Read the profile of a key, from slices or, if @rows is NULL, from its epoch. */
static int profile_read(struct profile_walk *walk, const union profile_key *key,
			const struct slice_row *rows, size_t count, bool *partial)
{
	if (walk->totals)
		return rows != NULL ? slices_total(walk, rows, count)
				    : read_total(walk->reader, key, &walk->pairs.total, walk->err);
	return rows != NULL ? slices_read(walk, rows, count, partial)
			    : read_profile(walk->reader, key, walk->filter, &walk->pairs, partial,
					   walk->err);
}

/* Visit the profile of a key, or the part of it in some slices. */
static int profile_visit(struct profile_walk *walk, const struct profile *described,
			 const union profile_key *key, const struct slice_row *rows, size_t count)
{
	struct profile profile = *described;
	int r = profile_read(walk, key, rows, count, &profile.partial);

	if (r < 0)
		return r;
	profile.samples = walk->totals ? NULL : walk->pairs.samples;
	profile.count = walk->totals ? 0 : walk->pairs.count;
	profile.total = walk->pairs.total;
	profile.slice_ns = rows != NULL && walk->filter->by_slice ? rows->start_ns : 0;
	return walk->visit(walk->context, &profile);
}

/* Visit the profile of a key, as a whole or slice by slice; not if no selected slice has it. */
static int profile_visit_parts(struct profile_walk *walk, const struct profile *described,
			       const union profile_key *key)
{
	const struct slice_row *rows;
	size_t count = 0;
	int r = 0;

	if (!epoch_set_is_partial(walk->epochs, key->epoch))
		return profile_visit(walk, described, key, NULL, 0);
	rows = slice_rows_find(&walk->rows, key->parts, &count);
	if (rows == NULL)
		return 0;
	if (!walk->filter->by_slice)
		return profile_visit(walk, described, key, rows, count);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = profile_visit(walk, described, key, &rows[i], 1);
	return r;
}

/* Visit one key of the index. Rows out of order would be counted twice. */
static int visit_key(struct profile_walk *walk, const union profile_key *key,
		     const char *event_name)
{
	struct profile profile;
	bool chosen;

	if (walk->started && reader_key_compare(walk->last.parts, key->parts) >= 0)
		return database_corrupt(&walk->reader->db, walk->err,
					"the index of profiles is out of order");
	walk->started = true;
	walk->last = *key;
	if (event_name == NULL)
		return database_corrupt(&walk->reader->db, walk->err,
					"a profile of image %" PRId64 " has no event", key->image);
	if (!walk_selects(walk, key, event_name))
		return 0;
	chosen = profile_owners_has(&walk->owners, key->epoch, key->pid);
	if (!chosen && !walk->filter->others_too)
		return 0;
	profile = (struct profile){
		.epoch = key->epoch,
		.image = key->image,
		.event = (uint32_t)key->event,
		.event_name = event_name,
		.pid = key->pid,
		.chosen = chosen,
	};
	return profile_visit_parts(walk, &profile, key);
}

/* struct event_name - the name of an event of an epoch */
struct event_name {
	uint32_t number;
	char *name;
};

/* struct event_list - the names of the events of an epoch */
struct event_list {
	struct event_name *list;
	size_t count;
	size_t capacity;
};

static void event_list_deinit(struct event_list *events)
{
	for (size_t i = 0; i < events->count; i++)
		free(events->list[i].name);
	free(events->list);
}

static int event_list_add(void *context, const struct profile_event *event)
{
	struct event_list *events = context;
	struct event_name added = {event->number, strdup(event->name)};

	if (added.name == NULL ||
	    array_reserve(&events->list, &events->capacity, events->count + 1, sizeof(added)) < 0) {
		free(added.name);
		return -ENOMEM;
	}
	events->list[events->count++] = added;
	return 0;
}

static const char *event_list_find(const struct event_list *events, int64_t number)
{
	for (size_t i = 0; i < events->count; i++) {
		if (events->list[i].number == number)
			return events->list[i].name;
	}
	return NULL;
}

/*
 * Visit the keys of the selected slices of one epoch. An epoch of a week has many more keys than a
 * slice.
 */
static int walk_slice_keys(struct profile_walk *walk, bool by_pid)
{
	_cleanup_(event_list_deinit) struct event_list events = {.list = NULL};
	const struct slice_rows *rows = &walk->rows;
	int r = profile_reader_events(walk->reader, walk->epochs->partial[0], event_list_add,
				      &events, walk->err);

	if (r == -ENOMEM)
		return error_set(walk->err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = 0; r == 0 && i < rows->count; i++) {
		const int64_t *parts = rows->list[i].key;
		union profile_key key;

		if (i > 0 && reader_key_compare(rows->list[i - 1].key, parts) == 0)
			continue;
		memcpy(key.parts, parts, sizeof(key.parts));
		if (!by_pid || key.pid == walk->filter->pid)
			r = visit_key(walk, &key, event_list_find(&events, key.event));
	}
	return r;
}

/*
 * The index yields the keys in the required order, without the blobs, which a sort would have to
 * copy.
 */
static int walk_keys(void *context, const struct epoch_set *epochs)
{
	static const char sql[] =
		"SELECT p.image, p.epoch, p.event, p.pid, event.name "
		"FROM profile AS p INDEXED BY profile_image "
		"LEFT JOIN event ON event.epoch = p.epoch AND event.number = p.event "
		"WHERE p.image BETWEEN ?1 AND ?2 AND (?3 = 0 OR p.pid = ?4) "
		"ORDER BY p.image, p.epoch, p.event, p.pid";
	/* Within one epoch the table is in this order, so the other epochs are not read. */
	static const char sql_epoch[] =
		"SELECT p.image, p.epoch, p.event, p.pid, event.name FROM profile AS p NOT INDEXED "
		"LEFT JOIN event ON event.epoch = p.epoch AND event.number = p.event "
		"WHERE p.epoch = ?5 AND p.image BETWEEN ?1 AND ?2 AND (?3 = 0 OR p.pid = ?4) "
		"ORDER BY p.image, p.event, p.pid";
	struct profile_walk *walk = context;
	const struct profile_filter *filter = walk->filter;
	bool one = filter->epochs != NULL && filter->epoch_count == 1;
	int64_t by_pid = filter->has_pid && filter->pid != PROFILE_PID_ALL && !filter->others_too;
	int64_t first = filter->image != 0 ? filter->image : INT64_MIN;
	int64_t last = filter->image != 0 ? filter->image : INT64_MAX;
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	struct database *db = &walk->reader->db;
	union profile_key key;
	int r;

	walk->epochs = epochs;
	r = profile_owners_find(&walk->owners, walk->reader, filter, epochs, walk->err);
	if (r == 0)
		r = slice_rows_read(&walk->rows, walk->reader, filter, epochs, walk->err);
	if (r < 0)
		return r;
	if (epochs->count == 1 && epochs->partial_count == 1)
		return walk_slice_keys(walk, by_pid);
	r = database_prepare(db, one ? sql_epoch : sql, &statement, walk->err);
	if (r == 0)
		r = database_bind(db, statement, walk->err, one ? "iiiii" : "iiii", first, last,
				  by_pid, filter->pid, one ? filter->epochs[0] : 0);
	if (r < 0)
		return r;
	while ((r = database_step(db, statement, "read", walk->err)) == 1) {
		key.image = sqlite3_column_int64(statement, 0);
		key.epoch = sqlite3_column_int64(statement, 1);
		key.event = sqlite3_column_int64(statement, 2);
		key.pid = sqlite3_column_int64(statement, 3);
		r = visit_key(walk, &key, (const char *)sqlite3_column_text(statement, 4));
		if (r != 0)
			return r;
	}
	return r;
}

static int walk_profiles(struct profile_reader *reader, const struct profile_filter *filter,
			 bool totals, profile_fn visit, void *context, struct error *err)
{
	static const struct profile_filter all;
	struct profile_walk walk = {
		.reader = reader,
		.filter = filter != NULL ? filter : &all,
		.visit = visit,
		.context = context,
		.err = err,
		.totals = totals,
	};
	int r = profile_reader_walk(reader, walk.filter, walk_keys, &walk, err);

	profile_pairs_deinit(&walk.pairs);
	profile_pairs_deinit(&walk.part);
	profile_pairs_deinit(&walk.sum);
	slice_rows_deinit(&walk.rows);
	profile_owners_deinit(&walk.owners);
	return r;
}

int profile_reader_profiles(struct profile_reader *reader, const struct profile_filter *filter,
			    profile_fn visit, void *context, struct error *err)
{
	return walk_profiles(reader, filter, false, visit, context, err);
}

int profile_reader_totals(struct profile_reader *reader, const struct profile_filter *filter,
			  profile_fn visit, void *context, struct error *err)
{
	return walk_profiles(reader, filter, true, visit, context, err);
}

/* Copy a row of the table of images. */
static int read_image(struct profile_reader *reader, sqlite3_stmt *statement,
		      struct profile_image *image)
{
	int64_t kind = sqlite3_column_int64(statement, 0);
	int64_t identity_kind = sqlite3_column_int64(statement, 1);
	const void *identity = sqlite3_column_blob(statement, 2);
	size_t bytes = (size_t)sqlite3_column_bytes(statement, 2);
	char *path;

	if (kind < 0 || kind > PROFILE_IMAGE_UNKNOWN || identity_kind < 0 ||
	    identity_kind > PROFILE_IDENTITY_FILE || bytes > PROFILE_IDENTITY_BYTES_MAX)
		return -EBADMSG;
	path = strdup(profile_reader_text(statement, 3));
	if (path == NULL)
		return -ENOMEM;
	free(reader->image_path);
	reader->image_path = path;
	memset(image, 0, sizeof(*image));
	image->kind = (enum profile_image_kind)kind;
	image->identity_kind = (enum profile_identity_kind)identity_kind;
	image->identity_bytes = bytes;
	if (bytes > 0)
		memcpy(image->identity, identity, bytes);
	image->path = path;
	return 0;
}

int profile_reader_image(struct profile_reader *reader, int64_t id, struct profile_image *image,
			 struct error *err)
{
	sqlite3_stmt *statement;
	int r;

	r = profile_reader_statement(reader, READER_IMAGE, &statement, err);
	if (r == 0)
		r = database_bind(&reader->db, statement, err, "i", id);
	if (r == 0)
		r = database_step(&reader->db, statement, "read", err);
	if (r < 0)
		return r;
	if (r == 0)
		return error_set(err, ENOENT, "%s has no image %" PRId64, reader->db.path, id);
	r = read_image(reader, statement, image);
	sqlite3_reset(statement);
	return r < 0 ? profile_reader_cannot(reader, r, err, "image", id) : 0;
}

int profile_reader_symbols(struct profile_reader *reader, int64_t image,
			   struct profile_symbols *ret, struct error *err)
{
	struct profile_symbols symbols = {0};
	sqlite3_stmt *statement;
	int64_t count;
	int r;

	r = profile_reader_statement(reader, READER_SYMBOLS, &statement, err);
	if (r == 0)
		r = database_bind(&reader->db, statement, err, "i", image);
	if (r == 0)
		r = database_step(&reader->db, statement, "read", err);
	if (r < 0)
		return r;
	if (r == 0) {
		*ret = symbols;
		return 0;
	}
	count = sqlite3_column_int64(statement, 0);
	r = symbol_blob_decode(&symbols, sqlite3_column_int64(statement, 2),
			       sqlite3_column_blob(statement, 1),
			       (size_t)sqlite3_column_bytes(statement, 1));
	sqlite3_reset(statement);
	if (r == 0 && symbols.count != (uint64_t)count) {
		profile_symbols_deinit(&symbols);
		r = -EBADMSG;
	}
	if (r < 0)
		return profile_reader_cannot(reader, r, err, "the symbols of image", image);
	*ret = symbols;
	return 0;
}

int profile_reader_command(struct profile_reader *reader, int64_t epoch, int64_t pid, char *command,
			   size_t bytes, struct error *err)
{
	sqlite3_stmt *statement;
	int r;

	r = profile_reader_statement(reader, READER_COMMAND, &statement, err);
	if (r == 0)
		r = database_bind(&reader->db, statement, err, "ii", epoch, pid);
	if (r == 0)
		r = database_step(&reader->db, statement, "read", err);
	if (r < 0)
		return r;
	snprintf(command, bytes, "%s", r == 1 ? profile_reader_text(statement, 0) : "");
	sqlite3_reset(statement);
	return 0;
}
