// SPDX-License-Identifier: GPL-2.0-only
/* Labels, shares and processes, which attribute samples to units and containers. */
#include "db/profile_read.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>

#include "db/profile_reader.h"
#include "lib/cleanup.h"
#include "lib/error.h"

int profile_reader_processes(struct profile_reader *reader, int64_t epoch, profile_process_fn visit,
			     void *context, struct error *err)
{
	static const char sql[] = "SELECT pid, command, label FROM process WHERE epoch = ?1 "
				  "ORDER BY pid";
	_cleanup_walk_ struct profile_reader *walk = begin_walk(reader);
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	struct profile_process process;
	int r;

	r = database_prepare(&walk->db, sql, &statement, err);
	if (r == 0)
		r = database_bind(&walk->db, statement, err, "i", epoch);
	if (r < 0)
		return r;
	while ((r = database_step(&walk->db, statement, "read", err)) == 1) {
		process.pid = sqlite3_column_int64(statement, 0);
		process.command = profile_reader_text(statement, 1);
		process.label = (uint32_t)sqlite3_column_int64(statement, 2);
		r = visit(context, &process);
		if (r != 0)
			return r;
	}
	return r;
}

int profile_reader_labels(struct profile_reader *reader, int64_t epoch, profile_label_fn visit,
			  void *context, struct error *err)
{
	_cleanup_walk_ struct profile_reader *walk = begin_walk(reader);
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	struct profile_label label;
	int64_t number;
	int r;

	r = database_prepare(&walk->db,
			     "SELECT number, unit, container FROM label WHERE epoch = ?1 "
			     "ORDER BY number",
			     &statement, err);
	if (r == 0)
		r = database_bind(&walk->db, statement, err, "i", epoch);
	if (r < 0)
		return r;
	while ((r = database_step(&walk->db, statement, "read", err)) == 1) {
		number = sqlite3_column_int64(statement, 0);
		if (number <= 0 || number > PROFILE_LABEL_MAX)
			return database_corrupt(&walk->db, err, "label %" PRId64, number);
		label.number = (uint32_t)number;
		label.unit = profile_reader_text(statement, 1);
		label.container = profile_reader_text(statement, 2);
		r = visit(context, &label);
		if (r != 0)
			return r;
	}
	return r;
}

/* An iteration over shares. */
struct share_walk {
	struct profile_reader *reader;
	const struct profile_filter *filter;
	profile_share_fn visit;
	void *context;
	struct error *err;
};

static int visit_share(struct share_walk *walk, sqlite3_stmt *statement)
{
	int64_t label = sqlite3_column_int64(statement, 3);
	int64_t samples = sqlite3_column_int64(statement, 4);
	const char *event_name = (const char *)sqlite3_column_text(statement, 5);
	struct profile_share share = {
		.epoch = sqlite3_column_int64(statement, 0),
		.image = sqlite3_column_int64(statement, 1),
		.event = (uint32_t)sqlite3_column_int64(statement, 2),
		.event_name = event_name,
		.label = (uint32_t)label,
		.samples = (uint64_t)samples,
	};

	if (label <= 0 || label > PROFILE_LABEL_MAX || samples < 0 || event_name == NULL)
		return database_corrupt(&walk->reader->db, walk->err, "a share of image %" PRId64,
					share.image);
	if (walk->filter->event != NULL && strcmp(walk->filter->event, event_name) != 0)
		return 0;
	return walk->visit(walk->context, &share);
}

static int walk_epoch(struct share_walk *walk, sqlite3_stmt *statement, int64_t epoch)
{
	const struct slice_bounds bounds = slice_bounds_of(walk->filter);
	struct database *db = &walk->reader->db;
	int64_t image = walk->filter->image;
	int r;

	r = database_bind(db, statement, walk->err,
			  sqlite3_bind_parameter_count(statement) == 5 ? "iiiii" : "iii", epoch,
			  image != 0 ? image : INT64_MIN, image != 0 ? image : INT64_MAX,
			  bounds.since_ns, bounds.until_ns);
	if (r < 0)
		return r;
	while ((r = database_step(db, statement, "read", walk->err)) == 1) {
		r = visit_share(walk, statement);
		if (r != 0)
			break;
	}
	sqlite3_reset(statement);
	return r;
}

static int walk_shares(void *context, const struct epoch_set *epochs)
{
	static const char sql[] =
		"SELECT s.epoch, s.image, s.event, s.label, s.samples, event.name FROM share AS s "
		"LEFT JOIN event ON event.epoch = s.epoch AND event.number = s.event "
		"WHERE s.epoch = ?1 AND s.image BETWEEN ?2 AND ?3 "
		"ORDER BY s.image, s.event, s.label";
	static const char sql_slices[] =
		"SELECT slice.epoch, s.image, s.event, s.label, sum(s.samples), event.name "
		"FROM slice JOIN slice_share AS s ON s.slice = slice.id LEFT JOIN event "
		"ON event.epoch = slice.epoch AND event.number = s.event "
		"WHERE slice.epoch = ?1 AND s.image BETWEEN ?2 AND ?3 "
		"AND slice.start_ns >= ?4 AND slice.start_ns < ?5 "
		"GROUP BY s.image, s.event, s.label ORDER BY s.image, s.event, s.label";
	struct share_walk *walk = context;
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	_cleanup_statement_ sqlite3_stmt *of_slices = NULL;
	size_t i;
	int r;

	r = database_prepare(&walk->reader->db, sql, &statement, walk->err);
	if (r == 0 && epochs->partial_count > 0)
		r = database_prepare(&walk->reader->db, sql_slices, &of_slices, walk->err);
	for (i = 0; r == 0 && i < epochs->count; i++)
		r = walk_epoch(walk,
			       epoch_set_is_partial(epochs, epochs->ids[i]) ? of_slices : statement,
			       epochs->ids[i]);
	return r;
}

int profile_reader_shares(struct profile_reader *reader, const struct profile_filter *filter,
			  profile_share_fn visit, void *context, struct error *err)
{
	static const struct profile_filter all;
	struct share_walk walk = {
		.reader = reader,
		.filter = filter != NULL ? filter : &all,
		.visit = visit,
		.context = context,
		.err = err,
	};

	return profile_reader_walk(reader, walk.filter, walk_shares, &walk, err);
}
