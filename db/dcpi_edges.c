// SPDX-License-Identifier: GPL-2.0-only
/* The table dcpi_edges; documented in db/dcpi_sqlite.h. */
#include "db/dcpi_sqlite.h"

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

#define KIND_NAME                                                                                  \
	"CASE e.kind WHEN 0 THEN 'branch' WHEN 1 THEN 'double' WHEN 2 THEN 'probe' "               \
	"WHEN 10 THEN 'record' END"

/* Columns whose equality selects sets of edges. */
static const struct dcpi_selector selectors[] = {
	{COLUMN_EPOCH, " AND e.epoch = ?1", 50},
	{COLUMN_IMAGE, " AND e.image = ?2", 50},
	{COLUMN_TO_IMAGE, " AND e.to_image = ?3", 50},
	{COLUMN_KIND, " AND " KIND_NAME " = ?4", 2},
};

/* The columns of a row; the first ones are those of the table. */
#define ROW_PAIRS 6
#define ROW_TOTAL 7
#define ROW_KIND_NUMBER 8
#define ROW_DATA 9

struct cursor {
	struct dcpi_cursor walk;
	struct edge_list list;
};

static int edges_decode(struct dcpi_cursor *walk)
{
	struct cursor *cursor = (struct cursor *)walk;
	sqlite3_stmt *rows = walk->rows;
	sqlite3_int64 image = sqlite3_column_int64(rows, COLUMN_IMAGE);
	uint32_t key = edge_blob_key(sqlite3_column_int64(rows, COLUMN_EPOCH), image,
				     sqlite3_column_int64(rows, COLUMN_TO_IMAGE),
				     sqlite3_column_int64(rows, ROW_KIND_NUMBER));
	int r;

	r = edge_blob_decode(&cursor->list, key, sqlite3_column_blob(rows, ROW_DATA),
			     (size_t)sqlite3_column_bytes(rows, ROW_DATA));
	if (r < 0)
		return dcpi_sqlite_error(walk->base.pVtab, r, "a set of edges of image", image);
	if (cursor->list.total != (uint64_t)sqlite3_column_int64(rows, ROW_TOTAL) ||
	    cursor->list.count != (uint64_t)sqlite3_column_int64(rows, ROW_PAIRS))
		return dcpi_sqlite_fail(walk->base.pVtab, SQLITE_CORRUPT_VTAB,
					"edges of image %lld do not have their totals", image);
	walk->count = cursor->list.count;
	return SQLITE_OK;
}

/* Return true if the file's schema version had no edges. */
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

static void edges_column(const struct dcpi_cursor *walk, sqlite3_context *context, int column)
{
	const struct profile_edge *edge = &((const struct cursor *)walk)->list.edges[walk->next];

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
		sqlite3_result_value(context, sqlite3_column_value(walk->rows, column));
		break;
	}
}

static void edges_release(struct dcpi_cursor *walk)
{
	edge_list_deinit(&((struct cursor *)walk)->list);
}

const struct dcpi_table_type dcpi_edges_table = {
	.name = "dcpi_edges",
	.declaration = "CREATE TABLE x (epoch INTEGER, image INTEGER, path TEXT, "
		       "to_image INTEGER, to_path TEXT, kind TEXT, "
		       "from_offset INTEGER, to_offset INTEGER, count INTEGER)",
	.query = "SELECT e.epoch, e.image, f.path, e.to_image, t.path, " KIND_NAME ", e.pairs, "
		 "e.total, e.kind, e.data FROM main.edge AS e "
		 "LEFT JOIN main.image AS f ON f.id = e.image "
		 "LEFT JOIN main.image AS t ON t.id = e.to_image WHERE e.kind IN (0, 1, 2, 10)",
	.selectors = selectors,
	.selector_count = sizeof(selectors) / sizeof(selectors[0]),
	.cursor_bytes = sizeof(struct cursor),
	.is_absent = before_edges,
	.decode = edges_decode,
	.column = edges_column,
	.release = edges_release,
};
