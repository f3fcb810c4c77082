// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_write.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "db/profile_writer.h"
#include "db/symbol_blob.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Return the host that an image belongs to; 0: all hosts. */
static int64_t host_of(const struct profile_writer *writer, const struct profile_image *image)
{
	bool own = image->identity_kind == PROFILE_IDENTITY_NONE &&
		   image->kind != PROFILE_IMAGE_UNKNOWN;

	return own ? writer->host : 0;
}

static int find_image(struct profile_writer *writer, const struct profile_image *image,
		      sqlite3_stmt **statement, struct error *err)
{
	bool by_path = image->identity_kind == PROFILE_IDENTITY_NONE;
	int r;

	r = profile_writer_statement(writer, by_path ? WRITER_IMAGE_FIND_PATH : WRITER_IMAGE_FIND,
				     statement, err);
	if (r < 0)
		return r;
	if (by_path)
		r = database_bind(&writer->db, *statement, err, "iti", (int64_t)image->kind,
				  image->path, host_of(writer, image));
	else
		r = database_bind(&writer->db, *statement, err, "iib", (int64_t)image->kind,
				  (int64_t)image->identity_kind, (const void *)image->identity,
				  image->identity_bytes);
	return r == 0 ? database_step(&writer->db, *statement, "read", err) : r;
}

static int rename_image(struct profile_writer *writer, int64_t id, const char *path,
			struct error *err)
{
	sqlite3_stmt *statement;
	int r;

	r = profile_writer_statement(writer, WRITER_IMAGE_RENAME, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "it", id, path);
	return r == 0 ? database_step(&writer->db, statement, "write", err) : r;
}

static int add_image(struct profile_writer *writer, const struct profile_image *image, int64_t *id,
		     struct error *err)
{
	size_t bytes = image->identity_kind == PROFILE_IDENTITY_NONE ? 0 : image->identity_bytes;
	sqlite3_stmt *statement;
	int r;

	r = profile_writer_statement(writer, WRITER_IMAGE_ADD, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iibti", (int64_t)image->kind,
				  (int64_t)image->identity_kind, (const void *)image->identity,
				  bytes, image->path, host_of(writer, image));
	if (r == 0)
		r = database_step(&writer->db, statement, "write", err);
	if (r == 0)
		*id = sqlite3_last_insert_rowid(writer->db.handle);
	return r;
}

/* Find or add an image. @rename: set the path of an existing image. */
static int profile_write_samples_get_image(struct profile_writer *writer,
					   const struct profile_image *image, bool rename,
					   int64_t *id, bool *added, struct error *err)
{
	sqlite3_stmt *statement;
	const char *path;
	bool renamed;
	int64_t found;
	int r;

	if (image->identity_bytes > PROFILE_IDENTITY_BYTES_MAX)
		return error_set(err, EINVAL, "'%s': identity of %zu bytes", image->path,
				 image->identity_bytes);
	r = profile_writer_in_transaction(writer, err);
	if (r == 0)
		r = find_image(writer, image, &statement, err);
	if (r < 0)
		return r;
	*added = r == 0;
	if (r == 0)
		return add_image(writer, image, id, err);
	/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): r is 1, so that it is set */
	found = sqlite3_column_int64(statement, 0);
	path = (const char *)sqlite3_column_text(statement, 1);
	renamed = rename && (path == NULL || strcmp(path, image->path) != 0);
	sqlite3_reset(statement);
	r = renamed ? rename_image(writer, found, image->path, err) : 0;
	if (r == 0)
		*id = found;
	return r;
}

int profile_writer_image(struct profile_writer *writer, const struct profile_image *image,
			 int64_t *id, struct error *err)
{
	bool added;

	return profile_write_samples_get_image(writer, image, true, id, &added, err);
}

int profile_writer_image_keep(struct profile_writer *writer, const struct profile_image *image,
			      int64_t *id, bool *added, struct error *err)
{
	return profile_write_samples_get_image(writer, image, false, id, added, err);
}

int profile_writer_symbols(struct profile_writer *writer, int64_t image,
			   const struct profile_symbol *symbols, size_t count, struct error *err)
{
	sqlite3_stmt *statement;
	int r;

	r = profile_writer_in_transaction(writer, err);
	if (r < 0)
		return r;
	r = symbol_blob_encode(&writer->blob, image, symbols, count);
	if (r < 0)
		return error_set(err, -r, "cannot store symbols of image %lld: %s",
				 (long long)image, strerror(-r));
	r = profile_writer_statement(writer, WRITER_SYMBOLS_SET, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iib", image, (int64_t)count,
				  (const void *)writer->blob.data, writer->blob.bytes);
	return r == 0 ? database_step(&writer->db, statement, "write", err) : r;
}

bool profile_writer_has_symbols(struct profile_writer *writer, int64_t image)
{
	sqlite3_stmt *statement;
	int r;

	r = profile_writer_statement(writer, WRITER_SYMBOLS_FIND, &statement, NULL);
	if (r == 0)
		r = database_bind(&writer->db, statement, NULL, "i", image);
	if (r == 0)
		r = database_step(&writer->db, statement, "read", NULL);
	if (r == 1)
		sqlite3_reset(statement);
	return r == 1;
}

uint32_t profile_row_key(const struct profile_row *row)
{
	int64_t owner = row->of_slice ? PROFILE_BLOB_SLICE(row->owner) : row->owner;

	return profile_blob_key(owner, row->image, row->event, row->pid);
}

/* Count the samples of a row that cannot be read as lost. */
static int row_damaged(struct profile_writer *writer, const struct profile_row *row,
		       int64_t samples, struct error *err)
{
	writer->stored.count = 0;
	writer->stored.total = 0;
	if (row->of_slice)
		return profile_writer_slice_count(writer, row->owner, "loss", "damaged",
						  (uint64_t)samples, err);
	writer->damaged += samples > 0 ? (uint64_t)samples : 0;
	return profile_writer_damaged_row(writer, "loss", "damaged", samples, err);
}

/* Read the stored row into writer->stored; it is empty if there is no row. */
static int read_stored(struct profile_writer *writer, const struct profile_row *row,
		       struct error *err)
{
	sqlite3_stmt *statement;
	int64_t samples;
	int r;

	writer->stored.count = 0;
	writer->stored.total = 0;
	r = profile_writer_statement(
		writer, row->of_slice ? WRITER_SLICE_PROFILE_FIND : WRITER_PROFILE_FIND, &statement,
		err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iiii", row->owner, row->image,
				  (int64_t)row->event, row->pid);
	if (r == 0)
		r = database_step(&writer->db, statement, "read", err);
	if (r <= 0)
		return r;
	samples = sqlite3_column_int64(statement, 0);
	r = profile_blob_decode(&writer->stored, profile_row_key(row),
				sqlite3_column_blob(statement, 1),
				(size_t)sqlite3_column_bytes(statement, 1));
	sqlite3_reset(statement);
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0 && writer->stored.total == (uint64_t)samples)
		return 0;
	return row_damaged(writer, row, samples, err);
}

int profile_writer_row_set(struct profile_writer *writer, const struct profile_row *row,
			   const struct profile_pairs *pairs, struct error *err)
{
	sqlite3_stmt *statement;
	uint64_t total;
	int r = profile_blob_encode(&writer->blob, profile_row_key(row), pairs->samples,
				    pairs->count, &total);

	if (r < 0)
		return error_set(err, -r, "cannot add samples to image %lld, event %u: %s",
				 (long long)row->image, row->event, strerror(-r));
	r = profile_writer_statement(writer,
				     row->of_slice ? WRITER_SLICE_PROFILE_SET : WRITER_PROFILE_SET,
				     &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "iiiiiib", row->owner, row->image,
				  (int64_t)row->event, row->pid, (int64_t)total,
				  (int64_t)pairs->count, (const void *)writer->blob.data,
				  writer->blob.bytes);
	return r == 0 ? database_step(&writer->db, statement, "write", err) : r;
}

int profile_writer_row_add(struct profile_writer *writer, const struct profile_row *row,
			   const struct profile_sample *samples, size_t count, struct error *err)
{
	int r = profile_writer_in_epoch(writer, err);

	if (r < 0 || count == 0)
		return r;
	r = read_stored(writer, row, err);
	if (r < 0)
		return r;
	r = profile_pairs_merge(&writer->merged, &writer->stored, samples, count);
	if (r < 0)
		return error_set(err, -r, "cannot add samples to image %lld, event %u: %s",
				 (long long)row->image, row->event, strerror(-r));
	return profile_writer_row_set(writer, row, &writer->merged, err);
}

int profile_writer_add(struct profile_writer *writer, int64_t image, uint32_t event, int64_t pid,
		       const struct profile_sample *samples, size_t count, struct error *err)
{
	const struct profile_row row = {false, writer->epoch, image, event, pid};

	return profile_writer_row_add(writer, &row, samples, count, err);
}
