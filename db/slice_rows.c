// SPDX-License-Identifier: GPL-2.0-only
#include "db/slice_rows.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "db/profile_reader.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/partition_point.h"

static int slice_rows_compare(const void *a, const void *b)
{
	const struct slice_row *x = a, *y = b;
	int r = reader_key_compare(x->key, y->key);

	if (r != 0)
		return r;
	r = (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
	return r != 0 ? r : (x->slice > y->slice) - (x->slice < y->slice);
}

static int slice_row_add(struct slice_rows *rows, int64_t epoch, sqlite3_stmt *statement)
{
	if (array_reserve(&rows->list, &rows->capacity, rows->count + 1, sizeof(*rows->list)) < 0)
		return -ENOMEM;
	rows->list[rows->count++] = (struct slice_row){
		.key =
			{
				sqlite3_column_int64(statement, 0),
				epoch,
				sqlite3_column_int64(statement, 1),
				sqlite3_column_int64(statement, 2),
			},
		.slice = sqlite3_column_int64(statement, 3),
		.samples = sqlite3_column_int64(statement, 4),
		.offsets = sqlite3_column_int64(statement, 5),
		.start_ns = sqlite3_column_int64(statement, 6),
	};
	return 0;
}

static int epoch_read(struct slice_rows *rows, struct database *db, sqlite3_stmt *statement,
		      const struct profile_filter *filter, int64_t epoch, struct error *err)
{
	const struct slice_bounds bounds = slice_bounds_of(filter);
	int64_t image = filter->image;
	int r;

	sqlite3_reset(statement);
	r = database_bind(db, statement, err, "iiiii", epoch, bounds.since_ns, bounds.until_ns,
			  image != 0 ? image : INT64_MIN, image != 0 ? image : INT64_MAX);
	while (r == 0 && (r = database_step(db, statement, "read", err)) == 1) {
		r = slice_row_add(rows, epoch, statement);
		if (r < 0)
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	return r;
}

int slice_rows_read(struct slice_rows *rows, struct profile_reader *reader,
		    const struct profile_filter *filter, const struct epoch_set *epochs,
		    struct error *err)
{
	static const char sql[] = "SELECT p.image, p.event, p.pid, p.slice, p.samples, p.offsets, "
				  "s.start_ns "
				  "FROM slice AS s JOIN slice_profile AS p ON p.slice = s.id "
				  "WHERE s.epoch = ?1 AND s.start_ns >= ?2 AND s.start_ns < ?3 "
				  "AND p.image BETWEEN ?4 AND ?5";
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	struct database *db = &reader->db;
	int r;

	if (epochs->partial_count == 0)
		return 0;
	r = database_prepare(db, sql, &statement, err);
	for (size_t i = 0; r == 0 && i < epochs->partial_count; i++)
		r = epoch_read(rows, db, statement, filter, epochs->partial[i], err);
	if (r == 0 && rows->count > 0)
		qsort(rows->list, rows->count, sizeof(*rows->list), slice_rows_compare);
	return r;
}

void slice_rows_deinit(struct slice_rows *rows)
{
	free(rows->list);
	*rows = (struct slice_rows){.list = NULL};
}

const struct slice_row *slice_rows_find(const struct slice_rows *rows, const int64_t *key,
					size_t *count)
{
	size_t low =
		partition_point(0, rows->count, i, reader_key_compare(rows->list[i].key, key) < 0);
	size_t end;

	for (end = low; end < rows->count; end++) {
		if (reader_key_compare(rows->list[end].key, key) != 0)
			break;
	}
	*count = end - low;
	return end > low ? &rows->list[low] : NULL;
}
