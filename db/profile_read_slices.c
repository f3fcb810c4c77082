// SPDX-License-Identifier: GPL-2.0-only
/* Slices of epochs, and counters of epochs and slices. */
#include "db/profile_read.h"

#include <sqlite3.h>

#include "db/profile_reader.h"
#include "lib/cleanup.h"
#include "lib/error.h"

int profile_reader_clip(struct profile_reader *reader, const struct profile_filter *filter,
			struct profile_epoch *epoch, struct error *err)
{
	static const char sql[] =
		"SELECT (SELECT count(*) FROM slice WHERE epoch = ?1), count(*), min(start_ns), "
		"max(end_ns), ifnull(sum(interrupts), 0), "
		"(SELECT max(start_ns) FROM slice WHERE epoch = ?1) < ?3 FROM slice "
		"WHERE epoch = ?1 AND start_ns >= ?2 AND start_ns < ?3";
	const struct slice_bounds bounds = slice_bounds_of(filter);
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int64_t all, selected;
	int r;

	if (filter->since_ns == 0 && filter->until_ns == 0 && !filter->by_slice)
		return 1;
	r = database_has(&reader->db, 8, err);
	if (r <= 0)
		return r < 0 ? r : 1;
	r = database_prepare(&reader->db, sql, &statement, err);
	if (r == 0)
		r = database_bind(&reader->db, statement, err, "iii", epoch->id, bounds.since_ns,
				  bounds.until_ns);
	if (r == 0)
		r = database_step(&reader->db, statement, "read", err);
	if (r < 0)
		return r;
	all = sqlite3_column_int64(statement, 0);
	selected = sqlite3_column_int64(statement, 1);
	if (selected == all && (all == 0 || !filter->by_slice))
		return 1;
	epoch->slices = (uint64_t)selected;
	epoch->since_ns = bounds.since_ns;
	epoch->until_ns = bounds.until_ns;
	epoch->start_ns = sqlite3_column_int64(statement, 2);
	epoch->end_ns = sqlite3_column_int64(statement, 3);
	epoch->interrupts = (uint64_t)sqlite3_column_int64(statement, 4);
	epoch->open = epoch->open != 0 && sqlite3_column_int(statement, 5) != 0;
	return selected > 0;
}

int profile_reader_counters(struct profile_reader *reader, const struct profile_epoch *epoch,
			    profile_counter_fn visit, void *context, struct error *err)
{
	static const char sql[] = "SELECT counter_group, name, count FROM counter "
				  "WHERE epoch = ?1 ORDER BY counter_group, name";
	static const char sql_slices[] =
		"SELECT counter_group, name, count FROM counter "
		"WHERE epoch = ?1 AND counter_group NOT IN ('loss', 'unknown') "
		"UNION ALL SELECT counter_group, name, sum(count) FROM slice "
		"JOIN slice_counter ON slice_counter.slice = slice.id "
		"WHERE slice.epoch = ?1 AND start_ns >= ?2 AND start_ns < ?3 "
		"GROUP BY counter_group, name ORDER BY 1, 2";
	_cleanup_walk_ struct profile_reader *walk = begin_walk(reader);
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	struct profile_counter counter;
	bool slices = epoch->slices > 0;
	int r;

	r = database_prepare(&walk->db, slices ? sql_slices : sql, &statement, err);
	if (r == 0)
		r = database_bind(&walk->db, statement, err, slices ? "iii" : "i", epoch->id,
				  epoch->since_ns, epoch->until_ns);
	if (r < 0)
		return r;
	while ((r = database_step(&walk->db, statement, "read", err)) == 1) {
		counter.group = profile_reader_text(statement, 0);
		counter.name = profile_reader_text(statement, 1);
		counter.count = (uint64_t)sqlite3_column_int64(statement, 2);
		r = visit(context, &counter);
		if (r != 0)
			return r;
	}
	return r;
}

int profile_slices_visit(struct database *db, sqlite3_stmt *statement, profile_slice_fn visit,
			 void *context, struct error *err)
{
	int r;

	while ((r = database_step(db, statement, "read", err)) == 1) {
		const struct profile_slice slice = {
			.start_ns = sqlite3_column_int64(statement, 0),
			.end_ns = sqlite3_column_int64(statement, 1),
			.interrupts = (uint64_t)sqlite3_column_int64(statement, 2),
		};

		r = visit(context, &slice);
		if (r != 0)
			return r;
	}
	return r;
}

int profile_reader_slices(struct profile_reader *reader, int64_t epoch, profile_slice_fn visit,
			  void *context, struct error *err)
{
	_cleanup_walk_ struct profile_reader *walk = begin_walk(reader);
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = database_has(&walk->db, 8, err);

	if (r <= 0)
		return r;
	r = database_prepare(&walk->db,
			     "SELECT start_ns, end_ns, interrupts FROM slice WHERE epoch = ?1 "
			     "ORDER BY start_ns, id",
			     &statement, err);
	if (r == 0)
		r = database_bind(&walk->db, statement, err, "i", epoch);
	return r < 0 ? r : profile_slices_visit(&walk->db, statement, visit, context, err);
}
