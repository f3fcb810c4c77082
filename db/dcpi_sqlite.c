// SPDX-License-Identifier: GPL-2.0-only
#include "db/dcpi_sqlite.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

SQLITE_EXTENSION_INIT1

int dcpi_sqlite_fail(sqlite3_vtab *table, int rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sqlite3_free(table->zErrMsg);
	table->zErrMsg = sqlite3_vmprintf(format, args);
	va_end(args);
	return rc;
}

int dcpi_sqlite_error(sqlite3_vtab *table, int r, const char *what, sqlite3_int64 id)
{
	switch (r) {
	case -ENOMEM:
		return SQLITE_NOMEM;
	case -EPROTO:
		return dcpi_sqlite_fail(table, SQLITE_ERROR,
					"%s %lld was written by a newer version", what, id);
	}
	return dcpi_sqlite_fail(table, SQLITE_CORRUPT_VTAB, "%s %lld is damaged", what, id);
}

/* A table of any type, which consists of a connection only. */
struct table {
	sqlite3_vtab base;
	const struct dcpi_table_type *type;
	sqlite3 *handle;
};

static struct table *table_of(struct dcpi_cursor *cursor)
{
	return (struct table *)cursor->base.pVtab;
}

static int table_connect(sqlite3 *handle, void *context, int argc, const char *const *argv,
			 sqlite3_vtab **ret, char **message)
{
	const struct dcpi_table_type *type = context;
	struct table *table;
	int rc;

	(void)argc;
	(void)argv;
	(void)message;
	rc = sqlite3_declare_vtab(handle, type->declaration);
	if (rc != SQLITE_OK)
		return rc;
	rc = sqlite3_vtab_config(handle, SQLITE_VTAB_DIRECTONLY);
	if (rc != SQLITE_OK)
		return rc;
	table = sqlite3_malloc64(sizeof(*table));
	if (table == NULL)
		return SQLITE_NOMEM;
	*table = (struct table){.type = type, .handle = handle};
	*ret = &table->base;
	return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

static int find_constraint(sqlite3_index_info *info, int column)
{
	int i;

	for (i = 0; i < info->nConstraint; i++) {
		if (info->aConstraint[i].iColumn != column || !info->aConstraint[i].usable ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") == 0)
			return i;
	}
	return -1;
}

/* idxNum has a bit for each selector used. */
static int table_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct dcpi_table_type *type = ((struct table *)base)->type;
	double rows = 1e7;
	int i, found, arguments = 0;

	info->idxNum = 0;
	for (i = 0; i < type->selector_count; i++) {
		found = find_constraint(info, type->selectors[i].column);
		if (found < 0)
			continue;
		info->idxNum |= 1 << i;
		info->aConstraintUsage[found].argvIndex = ++arguments;
		rows /= type->selectors[i].share;
	}
	info->estimatedCost = rows;
	info->estimatedRows = (sqlite3_int64)rows;
	return SQLITE_OK;
}

static int table_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	size_t bytes = ((struct table *)base)->type->cursor_bytes;
	struct dcpi_cursor *cursor = sqlite3_malloc64(bytes);

	if (cursor == NULL)
		return SQLITE_NOMEM;
	memset(cursor, 0, bytes);
	*ret = &cursor->base;
	return SQLITE_OK;
}

static int table_close(sqlite3_vtab_cursor *base)
{
	struct dcpi_cursor *cursor = (struct dcpi_cursor *)base;

	table_of(cursor)->type->release(cursor);
	sqlite3_finalize(cursor->rows);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

/* Start again with a new query, whose parameters are not yet bound. */
static int dcpi_sqlite_prepare(struct dcpi_cursor *cursor, const char *sql)
{
	struct table *table = table_of(cursor);
	int rc;

	sqlite3_finalize(cursor->rows);
	cursor->rows = NULL;
	cursor->eof = false;
	cursor->rowid = 0;
	rc = sqlite3_prepare_v2(table->handle, sql, -1, &cursor->rows, NULL);
	if (rc != SQLITE_OK)
		return dcpi_sqlite_fail(&table->base, rc, "not a profile database: %s",
					sqlite3_errmsg(table->handle));
	return SQLITE_OK;
}

/* Prepare the query with the conditions of the selectors @used appended, and bind their values. */
static int prepare_selected(struct dcpi_cursor *cursor, int used, int argc, sqlite3_value **argv)
{
	const struct dcpi_table_type *type = table_of(cursor)->type;
	sqlite3_str *query = sqlite3_str_new(table_of(cursor)->handle);
	int i, argument = 0, rc;
	char *text;

	sqlite3_str_appendall(query, type->query);
	for (i = 0; i < type->selector_count; i++) {
		if (used & 1 << i)
			sqlite3_str_appendall(query, type->selectors[i].condition);
	}
	text = sqlite3_str_finish(query);
	if (text == NULL)
		return SQLITE_NOMEM;
	rc = dcpi_sqlite_prepare(cursor, text);
	sqlite3_free(text);
	for (i = 0; rc == SQLITE_OK && i < type->selector_count; i++) {
		if (used & 1 << i && argument < argc)
			rc = sqlite3_bind_value(cursor->rows, i + 1, argv[argument++]);
	}
	return rc;
}

/* Advance to the next row with contents. */
static int next_row(struct dcpi_cursor *cursor)
{
	struct table *table = table_of(cursor);
	int rc;

	do {
		rc = sqlite3_step(cursor->rows);
		cursor->next = cursor->count = 0;
		cursor->eof = rc == SQLITE_DONE;
		if (cursor->eof)
			return SQLITE_OK;
		if (rc != SQLITE_ROW)
			return dcpi_sqlite_fail(&table->base, rc, "%s",
						sqlite3_errmsg(table->handle));
		rc = table->type->decode(cursor);
	} while (rc == SQLITE_OK && cursor->count == 0);
	return rc;
}

static int table_filter(sqlite3_vtab_cursor *base, int used, const char *unused, int argc,
			sqlite3_value **argv)
{
	struct dcpi_cursor *cursor = (struct dcpi_cursor *)base;
	const struct table *table = table_of(cursor);
	int rc;

	(void)unused;
	if (table->type->is_absent != NULL && table->type->is_absent(table->handle))
		rc = dcpi_sqlite_prepare(cursor, "SELECT 1 FROM main.profile WHERE 0");
	else
		rc = prepare_selected(cursor, used, argc, argv);
	return rc == SQLITE_OK ? next_row(cursor) : rc;
}

static int table_next(sqlite3_vtab_cursor *base)
{
	struct dcpi_cursor *cursor = (struct dcpi_cursor *)base;

	cursor->rowid++;
	cursor->next++;
	return cursor->next < cursor->count ? SQLITE_OK : next_row(cursor);
}

static int table_eof(sqlite3_vtab_cursor *base)
{
	return ((struct dcpi_cursor *)base)->eof;
}

static int table_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct dcpi_cursor *cursor = (struct dcpi_cursor *)base;

	table_of(cursor)->type->column(cursor, context, column);
	return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
	*rowid = ((struct dcpi_cursor *)base)->rowid;
	return SQLITE_OK;
}

static const sqlite3_module table_module = {
	.xConnect = table_connect, /* no xCreate: the tables are eponymous */
	.xBestIndex = table_best_index,
	.xDisconnect = table_disconnect,
	.xOpen = table_open,
	.xClose = table_close,
	.xFilter = table_filter,
	.xNext = table_next,
	.xEof = table_eof,
	.xColumn = table_column,
	.xRowid = table_rowid,
};

/* SQLite derives the name from the file's. */
__attribute__((visibility("default"))) int sqlite3_dcpisqlite_init(sqlite3 *handle, char **message,
								   const sqlite3_api_routines *api);

int sqlite3_dcpisqlite_init(sqlite3 *handle, char **message, const sqlite3_api_routines *api)
{
	static const struct dcpi_table_type *const types[] = {
		&dcpi_samples_table, &dcpi_edges_table, &dcpi_symbols_table};
	int rc = SQLITE_OK;
	size_t i;

	(void)message;
	SQLITE_EXTENSION_INIT2(api);
	for (i = 0; i < sizeof(types) / sizeof(types[0]) && rc == SQLITE_OK; i++)
		rc = sqlite3_create_module_v2(handle, types[i]->name, &table_module,
					      (void *)(uintptr_t)types[i], NULL);
	return rc;
}
