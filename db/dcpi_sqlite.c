// SPDX-License-Identifier: GPL-2.0-only
#include "db/dcpi_sqlite.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>

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
		rc = sqlite3_create_module_v2(handle, "dcpi_symbols", &dcpi_symbols_module, NULL,
					      NULL);
	return rc;
}
