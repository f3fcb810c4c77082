// SPDX-License-Identifier: GPL-2.0-only
/* Symbols and code of images that are in no file, added as they become known. */
#include "db/profile_write.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "db/code_blob.h"
#include "db/profile_read.h"
#include "db/profile_writer.h"
#include "db/symbol_blob.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Read the stored symbols. The result is empty if none are stored, or if they are damaged. */
static int symbols_read(struct profile_writer *writer, int64_t image, struct profile_symbols *kept,
			struct error *err)
{
	sqlite3_stmt *statement;
	int r;

	*kept = (struct profile_symbols){0};
	r = profile_writer_statement(writer, WRITER_SYMBOLS_READ, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "i", image);
	if (r == 0)
		r = database_step(&writer->db, statement, "read", err);
	if (r != 1)
		return r;
	/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): r is 1, so that it is set */
	r = symbol_blob_decode(kept, image, sqlite3_column_blob(statement, 0),
			       (size_t)sqlite3_column_bytes(statement, 0));
	sqlite3_reset(statement);
	return r == -ENOMEM ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}

/*
 * Merge two sorted lists within the limits. If both have a symbol at one offset, that of the first
 * is kept. Return: number of symbols.
 */
static size_t profile_write_code_unite(struct profile_symbol *all,
				       const struct profile_symbols *kept,
				       const struct profile_symbol *symbols, size_t count,
				       size_t *added)
{
	size_t i = 0, j = 0, n = 0, bytes = 0;

	*added = 0;
	for (size_t k = 0; k < kept->count; k++)
		bytes += strlen(kept->symbols[k].name) + 1;
	while (i < kept->count || j < count) {
		if (j == count ||
		    (i < kept->count && kept->symbols[i].offset <= symbols[j].offset)) {
			j += j < count && kept->symbols[i].offset == symbols[j].offset;
			all[n++] = kept->symbols[i++];
		} else if (kept->count + *added < PROFILE_CODE_SYMBOLS_MAX &&
			   bytes + strlen(symbols[j].name) < PROFILE_CODE_NAMES_MAX) {
			bytes += strlen(symbols[j].name) + 1;
			all[n++] = symbols[j++];
			++*added;
		} else {
			j++;
		}
	}
	return n;
}

int profile_writer_symbols_add(struct profile_writer *writer, int64_t image,
			       const struct profile_symbol *symbols, size_t count,
			       struct error *err)
{
	_cleanup_free_ struct profile_symbol *all = NULL;
	struct profile_symbols kept = {0};
	size_t n, added;
	int r;

	r = profile_writer_in_transaction(writer, err);
	if (r == 0)
		r = symbols_read(writer, image, &kept, err);
	if (r < 0)
		return r;
	all = calloc(kept.count + count + 1, sizeof(*all));
	if (all == NULL) {
		profile_symbols_deinit(&kept);
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	n = profile_write_code_unite(all, &kept, symbols, count, &added);
	r = added > 0 ? profile_writer_symbols(writer, image, all, n, err) : 0;
	profile_symbols_deinit(&kept);
	return r;
}

/* Return in @ret the bytes of code stored for an image, compressed. */
static int code_bytes(struct profile_writer *writer, int64_t image, int64_t *ret, struct error *err)
{
	sqlite3_stmt *statement;
	int r = profile_writer_statement(writer, WRITER_CODE_BYTES, &statement, err);

	if (r == 0)
		r = database_bind(&writer->db, statement, err, "i", image);
	if (r == 0)
		r = database_step(&writer->db, statement, "read", err);
	if (r < 0)
		return r;
	*ret = r == 1 ? sqlite3_column_int64(statement, 0) : 0;
	sqlite3_reset(statement);
	return 0;
}

static int code_write(struct profile_writer *writer, enum writer_statement how, int64_t image,
		      const struct profile_code *code, size_t count, struct error *err)
{
	sqlite3_stmt *statement;
	int64_t bytes = 0;
	size_t i;
	int r = profile_writer_in_transaction(writer, err);

	if (r == 0)
		r = code_bytes(writer, image, &bytes, err);
	for (i = 0; i < count && r == 0 && bytes < PROFILE_CODE_BYTES_MAX; i++) {
		r = code_blob_encode(&writer->blob, image, &code[i]);
		if (r < 0)
			return error_set(err, -r, "cannot store code of image %lld: %s",
					 (long long)image, strerror(-r));
		r = profile_writer_statement(writer, how, &statement, err);
		if (r == 0)
			r = database_bind(&writer->db, statement, err, "iib", image,
					  (int64_t)code[i].offset, (const void *)writer->blob.data,
					  writer->blob.bytes);
		if (r == 0)
			r = database_step(&writer->db, statement, "write", err);
		bytes += (int64_t)writer->blob.bytes;
	}
	return r;
}

int profile_writer_code(struct profile_writer *writer, int64_t image,
			const struct profile_code *code, size_t count, struct error *err)
{
	return code_write(writer, WRITER_CODE_ADD, image, code, count, err);
}

int profile_writer_code_set(struct profile_writer *writer, int64_t image,
			    const struct profile_code *code, size_t count, struct error *err)
{
	return code_write(writer, WRITER_CODE_SET, image, code, count, err);
}
