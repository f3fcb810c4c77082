// SPDX-License-Identifier: GPL-2.0-only
/* The table dcpi_samples; db/dcpi_sqlite.h is its manual. */
#include "db/dcpi_sqlite.h"

#include <stdbool.h>
#include <string.h>

#include "db/profile_blob.h"

SQLITE_EXTENSION_INIT3

enum column {
	COLUMN_EPOCH,
	COLUMN_IMAGE,
	COLUMN_PATH,
	COLUMN_EVENT,
	COLUMN_PID,
	COLUMN_OFFSET,
	COLUMN_COUNT,
};

/* Columns whose equality selects profiles. */
static const struct dcpi_selector selectors[] = {
	{COLUMN_EPOCH, " AND p.epoch = ?1", 50},
	{COLUMN_IMAGE, " AND p.image = ?2", 50},
	{COLUMN_EVENT, " AND event.name = ?3", 2},
	{COLUMN_PID, " AND p.pid = ?4", 50},
};

#define SELECTORS ((int)(sizeof(selectors) / sizeof(selectors[0])))

/* The columns of a row; the first ones are those of the table. */
#define ROW_SAMPLES 5
#define ROW_OFFSETS 6
#define ROW_EVENT_NUMBER 7
#define ROW_DATA 8

struct cursor {
	struct dcpi_cursor walk;
	struct profile_pairs pairs;
};

static int samples_connect(sqlite3 *handle, void *context, int argc, const char *const *argv,
			   sqlite3_vtab **ret, char **message)
{
	(void)context;
	(void)argc;
	(void)argv;
	(void)message;
	return dcpi_sqlite_connect(handle,
				   "CREATE TABLE x (epoch INTEGER, image INTEGER, path TEXT, "
				   "event TEXT, pid INTEGER, offset INTEGER, count INTEGER)",
				   ret);
}

static int samples_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	(void)table;
	return dcpi_sqlite_best_index(info, selectors, SELECTORS);
}

static int samples_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
	(void)table;
	return dcpi_sqlite_open(sizeof(struct cursor), ret);
}

static int samples_close(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	profile_pairs_deinit(&cursor->pairs);
	return dcpi_sqlite_close(&cursor->walk);
}

/* Decodes the profile that @rows stands on. */
static int decode_row(struct cursor *cursor)
{
	sqlite3_stmt *rows = cursor->walk.rows;
	sqlite3_int64 epoch = sqlite3_column_int64(rows, COLUMN_EPOCH);
	sqlite3_int64 image = sqlite3_column_int64(rows, COLUMN_IMAGE);
	uint32_t key = profile_blob_key(epoch, image,
					(uint32_t)sqlite3_column_int64(rows, ROW_EVENT_NUMBER),
					sqlite3_column_int64(rows, COLUMN_PID));
	int r;

	r = profile_blob_decode(&cursor->pairs, key, sqlite3_column_blob(rows, ROW_DATA),
				(size_t)sqlite3_column_bytes(rows, ROW_DATA));
	if (r < 0)
		return dcpi_sqlite_error(cursor->walk.base.pVtab, r, "a profile of image", image);
	if (cursor->pairs.total != (uint64_t)sqlite3_column_int64(rows, ROW_SAMPLES) ||
	    cursor->pairs.count != (uint64_t)sqlite3_column_int64(rows, ROW_OFFSETS))
		return dcpi_sqlite_fail(cursor->walk.base.pVtab, SQLITE_CORRUPT_VTAB,
					"a profile of image %lld does not have its totals", image);
	return SQLITE_OK;
}

/* On to the next profile that has samples. */
static int next_profile(struct cursor *cursor)
{
	int rc;

	do {
		rc = dcpi_sqlite_step(&cursor->walk);
		if (rc != SQLITE_OK || cursor->walk.eof)
			return rc;
		rc = decode_row(cursor);
	} while (rc == SQLITE_OK && cursor->pairs.count == 0);
	return rc;
}

static int samples_filter(sqlite3_vtab_cursor *base, int used, const char *unused, int argc,
			  sqlite3_value **argv)
{
	static const char sql[] =
		"SELECT p.epoch, p.image, image.path, event.name, p.pid, p.samples, p.offsets, "
		"p.event, p.data FROM main.profile AS p "
		"LEFT JOIN main.image ON image.id = p.image LEFT JOIN main.event "
		"ON event.epoch = p.epoch AND event.number = p.event WHERE 1";
	struct cursor *cursor = (struct cursor *)base;
	int rc;

	(void)unused;
	rc = dcpi_sqlite_select(&cursor->walk, sql, selectors, SELECTORS, used, argc, argv);
	return rc == SQLITE_OK ? next_profile(cursor) : rc;
}

static int samples_next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	cursor->walk.rowid++;
	cursor->walk.next++;
	return cursor->walk.next < cursor->pairs.count ? SQLITE_OK : next_profile(cursor);
}

static int samples_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct cursor *cursor = (struct cursor *)base;
	const struct profile_sample *sample = &cursor->pairs.samples[cursor->walk.next];

	switch (column) {
	case COLUMN_OFFSET:
		sqlite3_result_int64(context, (sqlite3_int64)sample->offset);
		break;
	case COLUMN_COUNT:
		sqlite3_result_int64(context, (sqlite3_int64)sample->count);
		break;
	default:
		sqlite3_result_value(context, sqlite3_column_value(cursor->walk.rows, column));
		break;
	}
	return SQLITE_OK;
}

const sqlite3_module dcpi_samples_module = {
	.xConnect = samples_connect, /* no xCreate: the table is there by its name alone */
	.xBestIndex = samples_best_index,
	.xDisconnect = dcpi_sqlite_disconnect,
	.xOpen = samples_open,
	.xClose = samples_close,
	.xFilter = samples_filter,
	.xNext = samples_next,
	.xEof = dcpi_sqlite_eof,
	.xColumn = samples_column,
	.xRowid = dcpi_sqlite_rowid,
};
