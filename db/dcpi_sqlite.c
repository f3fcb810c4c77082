// SPDX-License-Identifier: GPL-2.0-only
#include "db/dcpi_sqlite.h"

#include <errno.h>
#include <stdarg.h>
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

int dcpi_sqlite_connect(sqlite3 *handle, const char *declaration, sqlite3_vtab **ret)
{
	struct dcpi_table *table;
	int rc;

	rc = sqlite3_declare_vtab(handle, declaration);
	if (rc != SQLITE_OK)
		return rc;
	rc = sqlite3_vtab_config(handle, SQLITE_VTAB_DIRECTONLY);
	if (rc != SQLITE_OK)
		return rc;
	table = sqlite3_malloc64(sizeof(*table));
	if (table == NULL)
		return SQLITE_NOMEM;
	*table = (struct dcpi_table){.handle = handle};
	*ret = &table->base;
	return SQLITE_OK;
}

int dcpi_sqlite_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

int dcpi_sqlite_open(size_t bytes, sqlite3_vtab_cursor **ret)
{
	struct dcpi_cursor *cursor = sqlite3_malloc64(bytes);

	if (cursor == NULL)
		return SQLITE_NOMEM;
	memset(cursor, 0, bytes);
	*ret = &cursor->base;
	return SQLITE_OK;
}

int dcpi_sqlite_close(struct dcpi_cursor *cursor)
{
	sqlite3_finalize(cursor->rows);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

int dcpi_sqlite_query(struct dcpi_cursor *cursor, const char *sql)
{
	struct dcpi_table *table = (struct dcpi_table *)cursor->base.pVtab;
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

int dcpi_sqlite_best_index(sqlite3_index_info *info, const struct dcpi_selector *selectors,
			   int count)
{
	double rows = 1e7;
	int i, found, arguments = 0;

	info->idxNum = 0;
	for (i = 0; i < count; i++) {
		found = find_constraint(info, selectors[i].column);
		if (found < 0)
			continue;
		info->idxNum |= 1 << i;
		info->aConstraintUsage[found].argvIndex = ++arguments;
		rows /= selectors[i].share;
	}
	info->estimatedCost = rows;
	info->estimatedRows = (sqlite3_int64)rows;
	return SQLITE_OK;
}

int dcpi_sqlite_select(struct dcpi_cursor *cursor, const char *sql,
		       const struct dcpi_selector *selectors, int count, int used, int argc,
		       sqlite3_value **argv)
{
	struct dcpi_table *table = (struct dcpi_table *)cursor->base.pVtab;
	sqlite3_str *query = sqlite3_str_new(table->handle);
	int i, argument = 0, rc;
	char *text;

	sqlite3_str_appendall(query, sql);
	for (i = 0; i < count; i++) {
		if (used & 1 << i)
			sqlite3_str_appendall(query, selectors[i].condition);
	}
	text = sqlite3_str_finish(query);
	if (text == NULL)
		return SQLITE_NOMEM;
	rc = dcpi_sqlite_query(cursor, text);
	sqlite3_free(text);
	for (i = 0; rc == SQLITE_OK && i < count; i++) {
		if (used & 1 << i && argument < argc)
			rc = sqlite3_bind_value(cursor->rows, i + 1, argv[argument++]);
	}
	return rc;
}

int dcpi_sqlite_step(struct dcpi_cursor *cursor)
{
	struct dcpi_table *table = (struct dcpi_table *)cursor->base.pVtab;
	int rc = sqlite3_step(cursor->rows);

	cursor->next = 0;
	cursor->eof = rc == SQLITE_DONE;
	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		return SQLITE_OK;
	return dcpi_sqlite_fail(&table->base, rc, "%s", sqlite3_errmsg(table->handle));
}

int dcpi_sqlite_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct dcpi_cursor *)cursor)->eof;
}

int dcpi_sqlite_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	*rowid = ((struct dcpi_cursor *)cursor)->rowid;
	return SQLITE_OK;
}

/* SQLite derives the name from the file's. */
__attribute__((visibility("default"))) int sqlite3_dcpisqlite_init(sqlite3 *handle, char **message,
								   const sqlite3_api_routines *api);

int sqlite3_dcpisqlite_init(sqlite3 *handle, char **message, const sqlite3_api_routines *api)
{
	int rc;

	(void)message;
	SQLITE_EXTENSION_INIT2(api);
	rc = sqlite3_create_module_v2(handle, "dcpi_samples", &dcpi_samples_module, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_create_module_v2(handle, "dcpi_edges", &dcpi_edges_module, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_create_module_v2(handle, "dcpi_symbols", &dcpi_symbols_module, NULL,
					      NULL);
	return rc;
}
