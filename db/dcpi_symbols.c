// SPDX-License-Identifier: GPL-2.0-only
/* The table dcpi_symbols; documented in db/dcpi_sqlite.h. */
#include "db/dcpi_sqlite.h"

#include "db/profile_read.h"
#include "db/symbol_blob.h"

SQLITE_EXTENSION_INIT3

enum column {
	COLUMN_IMAGE,
	COLUMN_OFFSET,
	COLUMN_BYTES,
	COLUMN_NAME,
};

static const struct dcpi_selector selectors[] = {
	{COLUMN_IMAGE, " AND image = ?1", 100},
};

struct cursor {
	struct dcpi_cursor walk;
	struct profile_symbols symbols;
};

static void symbols_release(struct dcpi_cursor *walk)
{
	profile_symbols_deinit(&((struct cursor *)walk)->symbols);
}

static int symbols_decode(struct dcpi_cursor *walk)
{
	struct profile_symbols *symbols = &((struct cursor *)walk)->symbols;
	sqlite3_int64 image = sqlite3_column_int64(walk->rows, 0);
	int r;

	symbols_release(walk);
	r = symbol_blob_decode(symbols, image, sqlite3_column_blob(walk->rows, 1),
			       (size_t)sqlite3_column_bytes(walk->rows, 1));
	if (r < 0)
		return dcpi_sqlite_error(walk->base.pVtab, r, "the symbols of image", image);
	walk->count = symbols->count;
	return SQLITE_OK;
}

static void symbols_column(const struct dcpi_cursor *walk, sqlite3_context *context, int column)
{
	const struct profile_symbol *symbol =
		&((const struct cursor *)walk)->symbols.symbols[walk->next];

	switch (column) {
	case COLUMN_IMAGE:
		sqlite3_result_int64(context, sqlite3_column_int64(walk->rows, 0));
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
}

const struct dcpi_table_type dcpi_symbols_table = {
	.name = "dcpi_symbols",
	.declaration = "CREATE TABLE x (image INTEGER, offset INTEGER, bytes INTEGER, name TEXT)",
	.query = "SELECT image, data FROM main.symbol WHERE 1",
	.selectors = selectors,
	.selector_count = sizeof(selectors) / sizeof(selectors[0]),
	.cursor_bytes = sizeof(struct cursor),
	.decode = symbols_decode,
	.column = symbols_column,
	.release = symbols_release,
};
