// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_read.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "db/code_blob.h"
#include "db/profile_reader.h"

static int visit_row(struct profile_reader *reader, int64_t image, sqlite3_stmt *statement,
		     profile_code_fn visit, void *context, struct error *err)
{
	struct profile_code code;
	int r = code_blob_decode(&code, image, (uint64_t)sqlite3_column_int64(statement, 0),
				 sqlite3_column_blob(statement, 1),
				 (size_t)sqlite3_column_bytes(statement, 1));

	if (r < 0)
		return profile_reader_cannot(reader, r, err, "the code of image", image);
	r = visit(context, &code);
	free((void *)(uintptr_t)code.data);
	return r;
}

int profile_reader_code(struct profile_reader *reader, int64_t image, profile_code_fn visit,
			void *context, struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r;

	r = database_prepare(&reader->db,
			     "SELECT offset, data FROM code WHERE image = ?1 ORDER BY offset",
			     &statement, err);
	if (r == 0)
		r = database_bind(&reader->db, statement, err, "i", image);
	if (r < 0)
		return r;
	while ((r = database_step(&reader->db, statement, "read", err)) == 1) {
		r = visit_row(reader, image, statement, visit, context, err);
		if (r != 0)
			return r;
	}
	return r;
}
