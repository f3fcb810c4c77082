// SPDX-License-Identifier: GPL-2.0-only
/* The table dcpi_symbols; db/dcpi_sqlite.h is its manual. */
#include "db/dcpi_sqlite.h"

#include <stdbool.h>
#include <string.h>

#include "db/profile_read.h"
#include "db/symbol_blob.h"

SQLITE_EXTENSION_INIT3

enum column {
	COLUMN_IMAGE,
	COLUMN_OFFSET,
	COLUMN_BYTES,
	COLUMN_NAME,
};

#define BY_IMAGE 1

struct cursor {
	struct dcpi_cursor walk;
	struct profile_symbols symbols;
};

static int symbols_connect(sqlite3 *handle, void *context, int argc, const char *const *argv,
			   sqlite3_vtab **ret, char **message)
{
	(void)context;
	(void)argc;
	(void)argv;
	(void)message;
	return dcpi_sqlite_connect(handle,
				   "CREATE TABLE x (image INTEGER, offset INTEGER, bytes INTEGER, "
				   "name TEXT)",
				   ret);
}

static int symbols_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	int i;

	(void)table;
	info->idxNum = 0;
	info->estimatedCost = 1e6;
	info->estimatedRows = 1000000;
	for (i = 0; i < info->nConstraint; i++) {
		if (info->aConstraint[i].iColumn != COLUMN_IMAGE || !info->aConstraint[i].usable ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		info->idxNum = BY_IMAGE;
		info->aConstraintUsage[i].argvIndex = 1;
		info->estimatedCost = 1e4;
		info->estimatedRows = 10000;
		break;
	}
	return SQLITE_OK;
}

static int symbols_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
	(void)table;
	return dcpi_sqlite_open(sizeof(struct cursor), ret);
}

static int symbols_close(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	profile_symbols_deinit(&cursor->symbols);
	return dcpi_sqlite_close(&cursor->walk);
}

/* On to the next image that has symbols. */
static int next_image(struct cursor *cursor)
{
	sqlite3_stmt *rows = cursor->walk.rows;
	sqlite3_int64 image;
	int rc, r;

	do {
		profile_symbols_deinit(&cursor->symbols);
		rc = dcpi_sqlite_step(&cursor->walk);
		if (rc != SQLITE_OK || cursor->walk.eof)
			return rc;
		image = sqlite3_column_int64(rows, 0);
		r = symbol_blob_decode(&cursor->symbols, image, sqlite3_column_blob(rows, 1),
				       (size_t)sqlite3_column_bytes(rows, 1));
		if (r < 0)
			return dcpi_sqlite_error(cursor->walk.base.pVtab, r, "the symbols of image",
						 image);
	} while (cursor->symbols.count == 0);
	return SQLITE_OK;
}

static int symbols_filter(sqlite3_vtab_cursor *base, int used, const char *unused, int argc,
			  sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)base;
	int rc;

	(void)unused;
	rc = dcpi_sqlite_query(&cursor->walk,
			       used == BY_IMAGE
				       ? "SELECT image, data FROM main.symbol WHERE image = ?1"
				       : "SELECT image, data FROM main.symbol");
	if (rc == SQLITE_OK && used == BY_IMAGE && argc > 0)
		rc = sqlite3_bind_value(cursor->walk.rows, 1, argv[0]);
	return rc == SQLITE_OK ? next_image(cursor) : rc;
}

static int symbols_next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	cursor->walk.rowid++;
	cursor->walk.next++;
	return cursor->walk.next < cursor->symbols.count ? SQLITE_OK : next_image(cursor);
}

static int symbols_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct cursor *cursor = (struct cursor *)base;
	const struct profile_symbol *symbol = &cursor->symbols.symbols[cursor->walk.next];

	switch (column) {
	case COLUMN_IMAGE:
		sqlite3_result_int64(context, sqlite3_column_int64(cursor->walk.rows, 0));
		break;
	case COLUMN_OFFSET:
		sqlite3_result_int64(context, (sqlite3_int64)symbol->offset);
		break;
	case COLUMN_BYTES:
		sqlite3_result_int64(context, (sqlite3_int64)symbol->bytes);
		break;
	case COLUMN_NAME:
		sqlite3_result_text(context, symbol->name, -1, SQLITE_TRANSIENT);
		break;
	}
	return SQLITE_OK;
}

const sqlite3_module dcpi_symbols_module = {
	.xConnect = symbols_connect,
	.xBestIndex = symbols_best_index,
	.xDisconnect = dcpi_sqlite_disconnect,
	.xOpen = symbols_open,
	.xClose = symbols_close,
	.xFilter = symbols_filter,
	.xNext = symbols_next,
	.xEof = dcpi_sqlite_eof,
	.xColumn = symbols_column,
	.xRowid = dcpi_sqlite_rowid,
};
