// SPDX-License-Identifier: GPL-2.0-only
/* The table dcpi_edges; db/dcpi_sqlite.h is its manual. */
#include "db/dcpi_sqlite.h"

#include <stdbool.h>
#include <string.h>

#include "db/edge_blob.h"

SQLITE_EXTENSION_INIT3

enum column {
	COLUMN_EPOCH,
	COLUMN_IMAGE,
	COLUMN_PATH,
	COLUMN_TO_IMAGE,
	COLUMN_TO_PATH,
	COLUMN_KIND,
	COLUMN_FROM,
	COLUMN_TO,
	COLUMN_COUNT,
};

#define KIND_NAME "CASE e.kind WHEN 0 THEN 'branch' WHEN 1 THEN 'double' END"

/* Columns whose equality selects sets of edges. */
static const struct dcpi_selector selectors[] = {
	{COLUMN_EPOCH, " AND e.epoch = ?1", 50},
	{COLUMN_IMAGE, " AND e.image = ?2", 50},
	{COLUMN_TO_IMAGE, " AND e.to_image = ?3", 50},
	{COLUMN_KIND, " AND " KIND_NAME " = ?4", 2},
};

#define SELECTORS ((int)(sizeof(selectors) / sizeof(selectors[0])))

/* The columns of a row; the first ones are those of the table. */
#define ROW_PAIRS 6
#define ROW_TOTAL 7
#define ROW_KIND_NUMBER 8
#define ROW_DATA 9

struct cursor {
	struct dcpi_cursor walk;
	struct edge_list list;
};

static int edges_connect(sqlite3 *handle, void *context, int argc, const char *const *argv,
			 sqlite3_vtab **ret, char **message)
{
	(void)context;
	(void)argc;
	(void)argv;
	(void)message;
	return dcpi_sqlite_connect(handle,
				   "CREATE TABLE x (epoch INTEGER, image INTEGER, path TEXT, "
				   "to_image INTEGER, to_path TEXT, kind TEXT, "
				   "from_offset INTEGER, to_offset INTEGER, count INTEGER)",
				   ret);
}

static int edges_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	(void)table;
	return dcpi_sqlite_best_index(info, selectors, SELECTORS);
}

static int edges_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
	(void)table;
	return dcpi_sqlite_open(sizeof(struct cursor), ret);
}

static int edges_close(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	edge_list_deinit(&cursor->list);
	return dcpi_sqlite_close(&cursor->walk);
}

/* Decodes the edges that @rows stands on. */
static int decode_row(struct cursor *cursor)
{
	sqlite3_stmt *rows = cursor->walk.rows;
	sqlite3_int64 image = sqlite3_column_int64(rows, COLUMN_IMAGE);
	uint32_t key = edge_blob_key(sqlite3_column_int64(rows, COLUMN_EPOCH), image,
				     sqlite3_column_int64(rows, COLUMN_TO_IMAGE),
				     sqlite3_column_int64(rows, ROW_KIND_NUMBER));
	int r;

	r = edge_blob_decode(&cursor->list, key, sqlite3_column_blob(rows, ROW_DATA),
			     (size_t)sqlite3_column_bytes(rows, ROW_DATA));
	if (r < 0)
		return dcpi_sqlite_error(cursor->walk.base.pVtab, r, "a set of edges of image",
					 image);
	if (cursor->list.total != (uint64_t)sqlite3_column_int64(rows, ROW_TOTAL) ||
	    cursor->list.count != (uint64_t)sqlite3_column_int64(rows, ROW_PAIRS))
		return dcpi_sqlite_fail(cursor->walk.base.pVtab, SQLITE_CORRUPT_VTAB,
					"edges of image %lld do not have their totals", image);
	return SQLITE_OK;
}

/* On to the next set that has edges. */
static int next_set(struct cursor *cursor)
{
	int rc;

	do {
		rc = dcpi_sqlite_step(&cursor->walk);
		if (rc != SQLITE_OK || cursor->walk.eof)
			return rc;
		rc = decode_row(cursor);
	} while (rc == SQLITE_OK && cursor->list.count == 0);
	return rc;
}

/* Whether the file is of a version that had no edges: it has none, then. */
static bool before_edges(sqlite3 *handle)
{
	sqlite3_stmt *version;
	bool before;

	if (sqlite3_prepare_v2(handle, "PRAGMA main.user_version", -1, &version, NULL) != SQLITE_OK)
		return false;
	before = sqlite3_step(version) == SQLITE_ROW && sqlite3_column_int(version, 0) == 1;
	sqlite3_finalize(version);
	return before;
}

static int edges_filter(sqlite3_vtab_cursor *base, int used, const char *unused, int argc,
			sqlite3_value **argv)
{
	static const char sql[] =
		"SELECT e.epoch, e.image, f.path, e.to_image, t.path, " KIND_NAME ", e.pairs, "
		"e.total, e.kind, e.data FROM main.edge AS e "
		"LEFT JOIN main.image AS f ON f.id = e.image "
		"LEFT JOIN main.image AS t ON t.id = e.to_image WHERE 1";
	struct cursor *cursor = (struct cursor *)base;
	struct dcpi_table *table = (struct dcpi_table *)base->pVtab;
	int rc;

	(void)unused;
	if (before_edges(table->handle))
		rc = dcpi_sqlite_query(&cursor->walk, "SELECT 1 FROM main.profile WHERE 0");
	else
		rc = dcpi_sqlite_select(&cursor->walk, sql, selectors, SELECTORS, used, argc, argv);
	return rc == SQLITE_OK ? next_set(cursor) : rc;
}

static int edges_next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	cursor->walk.rowid++;
	cursor->walk.next++;
	return cursor->walk.next < cursor->list.count ? SQLITE_OK : next_set(cursor);
}

static int edges_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct cursor *cursor = (struct cursor *)base;
	const struct profile_edge *edge = &cursor->list.edges[cursor->walk.next];

	switch (column) {
	case COLUMN_FROM:
		sqlite3_result_int64(context, (sqlite3_int64)edge->from);
		break;
	case COLUMN_TO:
		sqlite3_result_int64(context, (sqlite3_int64)edge->to);
		break;
	case COLUMN_COUNT:
		sqlite3_result_int64(context, (sqlite3_int64)edge->count);
		break;
	default:
		sqlite3_result_value(context, sqlite3_column_value(cursor->walk.rows, column));
		break;
	}
	return SQLITE_OK;
}

const sqlite3_module dcpi_edges_module = {
	.xConnect = edges_connect,
	.xBestIndex = edges_best_index,
	.xDisconnect = dcpi_sqlite_disconnect,
	.xOpen = edges_open,
	.xClose = edges_close,
	.xFilter = edges_filter,
	.xNext = edges_next,
	.xEof = dcpi_sqlite_eof,
	.xColumn = edges_column,
	.xRowid = dcpi_sqlite_rowid,
};
