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

/* A walk: @symbols are those of the image that @rows stands on. */
struct cursor {
	sqlite3_vtab_cursor base;
	sqlite3_stmt *rows;
	struct profile_symbols symbols;
	size_t next;
	sqlite3_int64 rowid;
	bool eof;
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
	struct cursor *cursor = sqlite3_malloc64(sizeof(*cursor));

	(void)table;
	if (cursor == NULL)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof(*cursor));
	*ret = &cursor->base;
	return SQLITE_OK;
}

static int symbols_close(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	sqlite3_finalize(cursor->rows);
	profile_symbols_deinit(&cursor->symbols);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

/* On to the next image that has symbols. */
static int next_image(struct cursor *cursor)
{
	struct dcpi_table *table = (struct dcpi_table *)cursor->base.pVtab;
	sqlite3_int64 image;
	int rc, r;

	do {
		profile_symbols_deinit(&cursor->symbols);
		cursor->next = 0;
		rc = sqlite3_step(cursor->rows);
		if (rc == SQLITE_DONE) {
			cursor->eof = true;
			return SQLITE_OK;
		}
		if (rc != SQLITE_ROW)
			return dcpi_sqlite_fail(&table->base, rc, "%s",
						sqlite3_errmsg(table->handle));
		image = sqlite3_column_int64(cursor->rows, 0);
		r = symbol_blob_decode(&cursor->symbols, image,
				       sqlite3_column_blob(cursor->rows, 1),
				       (size_t)sqlite3_column_bytes(cursor->rows, 1));
		if (r < 0)
			return dcpi_sqlite_error(&table->base, r, "the symbols of image", image);
	} while (cursor->symbols.count == 0);
	return SQLITE_OK;
}

static int symbols_filter(sqlite3_vtab_cursor *base, int used, const char *unused, int argc,
			  sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)base;
	struct dcpi_table *table = (struct dcpi_table *)base->pVtab;
	int rc;

	(void)unused;
	sqlite3_finalize(cursor->rows);
	cursor->rows = NULL;
	cursor->eof = false;
	cursor->rowid = 0;
	rc = sqlite3_prepare_v2(table->handle,
				used == BY_IMAGE
					? "SELECT image, data FROM main.symbol WHERE image = ?1"
					: "SELECT image, data FROM main.symbol",
				-1, &cursor->rows, NULL);
	if (rc != SQLITE_OK)
		return dcpi_sqlite_fail(&table->base, rc, "not a profile database: %s",
					sqlite3_errmsg(table->handle));
	if (used == BY_IMAGE && argc > 0)
		rc = sqlite3_bind_value(cursor->rows, 1, argv[0]);
	return rc == SQLITE_OK ? next_image(cursor) : rc;
}

static int symbols_next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	cursor->rowid++;
	cursor->next++;
	return cursor->next < cursor->symbols.count ? SQLITE_OK : next_image(cursor);
}

static int symbols_eof(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->eof;
}

static int symbols_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct cursor *cursor = (struct cursor *)base;
	const struct profile_symbol *symbol = &cursor->symbols.symbols[cursor->next];

	switch (column) {
	case COLUMN_IMAGE:
		sqlite3_result_int64(context, sqlite3_column_int64(cursor->rows, 0));
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

static int symbols_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
	*rowid = ((struct cursor *)base)->rowid;
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
	.xEof = symbols_eof,
	.xColumn = symbols_column,
	.xRowid = symbols_rowid,
};
