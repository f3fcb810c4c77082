// SPDX-License-Identifier: GPL-2.0-only
/* The table dcpi_samples; documented in db/dcpi_sqlite.h. */
#include "db/dcpi_sqlite.h"

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

/* The columns of a row; the first ones are those of the table. */
#define ROW_SAMPLES 5
#define ROW_OFFSETS 6
#define ROW_EVENT_NUMBER 7
#define ROW_DATA 8

struct cursor {
	struct dcpi_cursor walk;
	struct profile_pairs pairs;
};

static int samples_decode(struct dcpi_cursor *walk)
{
	struct cursor *cursor = (struct cursor *)walk;
	sqlite3_stmt *rows = walk->rows;
	sqlite3_int64 epoch = sqlite3_column_int64(rows, COLUMN_EPOCH);
	sqlite3_int64 image = sqlite3_column_int64(rows, COLUMN_IMAGE);
	uint32_t key = profile_blob_key(epoch, image,
					(uint32_t)sqlite3_column_int64(rows, ROW_EVENT_NUMBER),
					sqlite3_column_int64(rows, COLUMN_PID));
	int r;

	r = profile_blob_decode(&cursor->pairs, key, sqlite3_column_blob(rows, ROW_DATA),
				(size_t)sqlite3_column_bytes(rows, ROW_DATA));
	if (r < 0)
		return dcpi_sqlite_error(walk->base.pVtab, r, "a profile of image", image);
	if (cursor->pairs.total != (uint64_t)sqlite3_column_int64(rows, ROW_SAMPLES) ||
	    cursor->pairs.count != (uint64_t)sqlite3_column_int64(rows, ROW_OFFSETS))
		return dcpi_sqlite_fail(walk->base.pVtab, SQLITE_CORRUPT_VTAB,
					"a profile of image %lld does not have its totals", image);
	walk->count = cursor->pairs.count;
	return SQLITE_OK;
}

static void samples_column(const struct dcpi_cursor *walk, sqlite3_context *context, int column)
{
	const struct cursor *cursor = (const struct cursor *)walk;
	const struct profile_sample *sample = &cursor->pairs.samples[walk->next];

	switch (column) {
	case COLUMN_OFFSET:
		sqlite3_result_int64(context, (sqlite3_int64)sample->offset);
		break;
	case COLUMN_COUNT:
		sqlite3_result_int64(context, (sqlite3_int64)sample->count);
		break;
	default:
		sqlite3_result_value(context, sqlite3_column_value(walk->rows, column));
		break;
	}
}

static void samples_release(struct dcpi_cursor *walk)
{
	profile_pairs_deinit(&((struct cursor *)walk)->pairs);
}

const struct dcpi_table_type dcpi_samples_table = {
	.name = "dcpi_samples",
	.declaration = "CREATE TABLE x (epoch INTEGER, image INTEGER, path TEXT, "
		       "event TEXT, pid INTEGER, offset INTEGER, count INTEGER)",
	.query = "SELECT p.epoch, p.image, image.path, event.name, p.pid, p.samples, p.offsets, "
		 "p.event, p.data FROM main.profile AS p "
		 "LEFT JOIN main.image ON image.id = p.image LEFT JOIN main.event "
		 "ON event.epoch = p.epoch AND event.number = p.event WHERE 1",
	.selectors = selectors,
	.selector_count = sizeof(selectors) / sizeof(selectors[0]),
	.cursor_bytes = sizeof(struct cursor),
	.decode = samples_decode,
	.column = samples_column,
	.release = samples_release,
};
