// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delete old data, a little at a time. In the oldest epoch, first delete data that describes its
 * rows, then the rows, then the epoch. Samples deleted from a profile are added to a counter in the
 * same step, so that an epoch's sums are correct after each step.
 */
#include "db/profile_write.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

#include "db/profile_writer.h"
#include "lib/cleanup.h"
#include "lib/error.h"

/* Limits of one step: rows, and bytes of their contents. */
#define STEP_ROWS 256
#define STEP_BYTES (256 << 10)
/* Pages that a step returns to the file system. */
#define STEP_PAGES 512
/*
 * Free pages that are kept for new data: the file's pages divided by SPARE_SHARE, and SPARE_PAGES
 * more.
 */
#define SPARE_SHARE 16
#define SPARE_PAGES 64

/*
 * Tables whose rows hold the epoch's samples, edges, exact counts and recordings, by their primary
 * keys, and the statements that count their loss. The second column of each table is the image.
 */
struct rows {
	const char *select; /* ?1: epoch; the rest of the key, number, bytes */
	const char *delete; /* ?1: epoch, ?2..?4: up to this key */
	const char *count;  /* ?1: epoch, ?2: increment; NULL: not counted */
	int other_image;    /* column of select with another image; 0: none */
};

static const struct rows edge_rows = {
	.select = "SELECT image, to_image, kind, total, length(data) FROM edge WHERE epoch = ?1 "
		  "ORDER BY image, to_image, kind",
	.delete = "DELETE FROM edge WHERE epoch = ?1 AND (image, to_image, kind) <= (?2, ?3, ?4)",
	.count = "INSERT INTO counter VALUES (?1, 'stat', 'edges_expired', ?2) "
		 "ON CONFLICT DO UPDATE SET count = count + excluded.count",
	.other_image = 1,
};

static const struct rows execution_rows = {
	.select = "SELECT image, kind, 0, total, length(data) FROM execution WHERE epoch = ?1 "
		  "ORDER BY image, kind",
	.delete = "DELETE FROM execution WHERE epoch = ?1 AND (image, kind, 0) <= (?2, ?3, ?4)",
};

static const struct rows recording_rows = {
	.select = "SELECT image, mode, 0, records, length(data) FROM recording WHERE epoch = ?1 "
		  "ORDER BY image, mode",
	.delete = "DELETE FROM recording WHERE epoch = ?1 AND (image, mode, 0) <= (?2, ?3, ?4)",
};

static const struct rows profile_rows = {
	.select = "SELECT image, event, pid, samples, length(data) FROM profile WHERE epoch = ?1 "
		  "ORDER BY image, event, pid",
	.delete = "DELETE FROM profile WHERE epoch = ?1 AND (image, event, pid) <= (?2, ?3, ?4)",
	.count = "INSERT INTO counter VALUES (?1, 'loss', 'expired', ?2) "
		 "ON CONFLICT DO UPDATE SET count = count + excluded.count",
};

/* Run a statement with up to four numbers. Return: rows changed, or -errno. */
static int profile_write_expire_run(struct profile_writer *writer, const char *sql,
				    const int64_t *values, int count, struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = database_prepare(&writer->db, sql, &statement, err);

	for (int i = 0; r == 0 && i < count; i++) {
		int rc = sqlite3_bind_int64(statement, i + 1, values[i]);

		if (rc != SQLITE_OK)
			r = database_fail(&writer->db, rc, "store values in", err);
	}
	if (r == 0)
		r = database_step(&writer->db, statement, "write", err);
	return r < 0 ? r : sqlite3_changes(writer->db.handle);
}

/* Delete an image along with its last samples, edges, counts and recordings. */
static int image_forget(struct profile_writer *writer, int64_t image, struct error *err)
{
	int r = profile_write_expire_run(
		writer,
		"DELETE FROM image WHERE id = ?1 "
		"AND NOT EXISTS (SELECT 1 FROM profile WHERE image = ?1) "
		"AND NOT EXISTS (SELECT 1 FROM edge WHERE image = ?1) "
		"AND NOT EXISTS (SELECT 1 FROM edge WHERE to_image = ?1) "
		"AND NOT EXISTS (SELECT 1 FROM execution WHERE image = ?1) "
		"AND NOT EXISTS (SELECT 1 FROM recording WHERE image = ?1)",
		&image, 1, err);

	return r < 0 ? r : 0;
}

/*
 * struct batch - rows that a step deletes: all up to a key
 * @images: images of these rows
 */
struct batch {
	int64_t last[3];
	int64_t number;
	int rows;
	int64_t images[2 * STEP_ROWS];
	int image_count;
};

static void batch_image(struct batch *batch, int64_t image)
{
	if (batch->image_count == 0 || batch->images[batch->image_count - 1] != image)
		batch->images[batch->image_count++] = image;
}

static int batch_find(struct profile_writer *writer, const struct rows *rows, int64_t epoch,
		      struct batch *batch, struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int64_t bytes = 0;
	int r = database_prepare(&writer->db, rows->select, &statement, err);

	if (r == 0)
		r = database_bind(&writer->db, statement, err, "i", epoch);
	while (r == 0 && batch->rows < STEP_ROWS && bytes < STEP_BYTES) {
		r = database_step(&writer->db, statement, "read", err);
		if (r <= 0)
			return r;
		for (int i = 0; i < 3; i++)
			batch->last[i] = sqlite3_column_int64(statement, i);
		batch->number += sqlite3_column_int64(statement, 3);
		bytes += sqlite3_column_int64(statement, 4);
		batch_image(batch, batch->last[0]);
		if (rows->other_image > 0)
			batch_image(batch, batch->last[rows->other_image]);
		batch->rows++;
		r = 0;
	}
	return r;
}

/* Delete one batch of rows. Return: rows deleted, or -errno. */
static int rows_delete(struct profile_writer *writer, const struct rows *rows, int64_t epoch,
		       uint64_t *number, struct error *err)
{
	struct batch batch = {.rows = 0};
	int r = batch_find(writer, rows, epoch, &batch, err);

	if (r < 0 || batch.rows == 0)
		return r;
	r = profile_write_expire_run(
		writer, rows->delete,
		(int64_t[]){epoch, batch.last[0], batch.last[1], batch.last[2]}, 4, err);
	if (r >= 0 && rows->count != NULL)
		r = profile_write_expire_run(writer, rows->count, (int64_t[]){epoch, batch.number},
					     2, err);
	for (int i = 0; r >= 0 && i < batch.image_count; i++)
		r = image_forget(writer, batch.images[i], err);
	*number += (uint64_t)batch.number;
	return r < 0 ? r : batch.rows;
}

/*
 * The samples of the unknown image are counted twice, in its profile and by reason, so both are
 * deleted together, and first. The same holds for shares, which are samples of profiles.
 */
static int unknown_delete(struct profile_writer *writer, int64_t epoch, uint64_t *number,
			  struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int64_t samples = 0;
	int r, rows;

	r = database_prepare(&writer->db,
			     "SELECT ifnull(sum(samples), 0) FROM profile WHERE epoch = ?1 AND "
			     "image IN (SELECT id FROM image WHERE kind = 5)",
			     &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "i", epoch);
	if (r == 0)
		r = database_step(&writer->db, statement, "read", err);
	if (r == 1)
		samples = sqlite3_column_int64(statement, 0);
	if (r < 0 || samples == 0)
		return r < 0 ? r : 0;
	sqlite3_reset(statement);
	rows = profile_write_expire_run(writer,
					"DELETE FROM profile WHERE epoch = ?1 AND "
					"image IN (SELECT id FROM image WHERE kind = 5)",
					&epoch, 1, err);
	r = rows;
	if (r >= 0)
		r = profile_write_expire_run(
			writer,
			"DELETE FROM counter WHERE epoch = ?1 AND counter_group = 'unknown'",
			&epoch, 1, err);
	if (r >= 0)
		r = profile_write_expire_run(writer, profile_rows.count,
					     (int64_t[]){epoch, samples}, 2, err);
	*number += (uint64_t)samples;
	return r < 0 ? r : rows;
}

static int shares_delete(struct profile_writer *writer, int64_t epoch, struct error *err)
{
	return profile_write_expire_run(
		writer,
		"DELETE FROM share WHERE epoch = ?1 AND (image, event, label) IN "
		"(SELECT image, event, label FROM share WHERE epoch = ?1 LIMIT ?2)",
		(int64_t[]){epoch, STEP_ROWS}, 2, err);
}

/*
 * An epoch has slices for all its samples, or none. So all slices of an epoch are taken from it
 * first, in one step, and then deleted, one in each step.
 */
static int slices_delete(struct profile_writer *writer, int64_t epoch, struct error *err)
{
	int r = profile_write_expire_run(writer, "UPDATE slice SET epoch = NULL WHERE epoch = ?1",
					 &epoch, 1, err);

	if (r != 0)
		return r;
	return profile_write_expire_run(writer,
					"DELETE FROM slice WHERE id = "
					"(SELECT id FROM slice WHERE epoch IS NULL LIMIT 1)",
					NULL, 0, err);
}

/* Delete a part of an epoch's contents, or the epoch itself if it is empty. */
static int epoch_shrink(struct profile_writer *writer, int64_t epoch,
			struct profile_expired *expired, struct error *err)
{
	uint64_t others = 0;
	int r = slices_delete(writer, epoch, err);

	if (r == 0)
		r = shares_delete(writer, epoch, err);
	if (r == 0)
		r = unknown_delete(writer, epoch, &expired->samples, err);
	if (r == 0)
		r = rows_delete(writer, &edge_rows, epoch, &others, err);
	if (r == 0)
		r = rows_delete(writer, &execution_rows, epoch, &others, err);
	if (r == 0)
		r = rows_delete(writer, &recording_rows, epoch, &others, err);
	if (r == 0)
		r = rows_delete(writer, &profile_rows, epoch, &expired->samples, err);
	if (r != 0)
		return r;
	r = profile_write_expire_run(writer, "DELETE FROM epoch WHERE id = ?1", &epoch, 1, err);
	if (r >= 0)
		r = profile_write_expire_run(writer,
					     "DELETE FROM host WHERE NOT EXISTS "
					     "(SELECT 1 FROM epoch WHERE epoch.host = host.id)",
					     NULL, 0, err);
	expired->epochs = 1;
	return r < 0 ? r : 1;
}

/* These numbers are in the file's header, so no pages are read. */
static int pages_count(struct profile_writer *writer, struct profile_expired *expired, int64_t *all,
		       int64_t *unused, struct error *err)
{
	int64_t page_bytes = 0;
	int r = database_number(&writer->db, "PRAGMA page_count", all, err);

	if (r == 0)
		r = database_number(&writer->db, "PRAGMA freelist_count", unused, err);
	if (r == 0)
		r = database_number(&writer->db, "PRAGMA page_size", &page_bytes, err);
	if (r != 0)
		return r;
	expired->file_bytes = (uint64_t)*all * (uint64_t)page_bytes;
	expired->used_bytes = (uint64_t)(*all - *unused) * (uint64_t)page_bytes;
	return 0;
}

/* Find the oldest epoch that has ended. Return: 1, 0: there is none, or -errno. */
static int epoch_oldest(struct profile_writer *writer, int64_t *id, int64_t *end_ns,
			struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = database_prepare(&writer->db,
				 "SELECT id, end_ns FROM epoch WHERE open = 0 "
				 "ORDER BY start_ns, id LIMIT 1",
				 &statement, err);

	if (r == 0)
		r = database_step(&writer->db, statement, "read", err);
	if (r == 1) {
		*id = sqlite3_column_int64(statement, 0);
		*end_ns = sqlite3_column_int64(statement, 1);
	}
	return r;
}

/* Return: 1: rows were deleted; 0: none; or -errno. */
static int delete_step(struct profile_writer *writer, const struct profile_limits *limits,
		       struct profile_expired *expired, struct error *err)
{
	int64_t id = 0, end_ns = 0;
	int r = epoch_oldest(writer, &id, &end_ns, err);
	bool full = limits->bytes_max > 0 &&
		    expired->used_bytes > limits->bytes_max - limits->bytes_max / SPARE_SHARE;

	expired->full = full;
	expired->stuck = r == 0 && full;
	if (r <= 0 || (!full && end_ns >= limits->before_ns))
		return r < 0 ? r : 0;
	r = profile_writer_begin(writer, err);
	if (r < 0)
		return r;
	r = profile_writer_settle(writer, epoch_shrink(writer, id, expired, err), err);
	if (r < 0) {
		*expired = (struct profile_expired){.epochs = 0};
		return r;
	}
	return 1;
}

int profile_writer_expire(struct profile_writer *writer, const struct profile_limits *limits,
			  struct profile_expired *expired, struct error *err)
{
	int64_t pages, unused, before;
	char sql[64];
	int r;

	*expired = (struct profile_expired){.epochs = 0};
	r = profile_writer_check_place(writer, err);
	if (r == 0)
		r = pages_count(writer, expired, &pages, &unused, err);
	if (r == 0)
		r = delete_step(writer, limits, expired, err);
	if (r != 0)
		return r;
	if (unused <= pages / SPARE_SHARE + SPARE_PAGES)
		return 0;
	before = unused;
	snprintf(sql, sizeof(sql), "PRAGMA incremental_vacuum(%d)", STEP_PAGES);
	r = database_exec(&writer->db, sql, "shrink", err);
	/* Copy the log back: otherwise the file would keep its size until the log is full. */
	if (r == 0)
		r = database_exec(&writer->db, "PRAGMA wal_checkpoint(PASSIVE)", "shrink", err);
	database_file_note(&writer->db.file, writer->db.handle);
	if (r == 0)
		r = pages_count(writer, expired, &pages, &unused, err);
	return r < 0 ? r : unused < before;
}

int profile_writer_epoch_drop(struct profile_writer *writer, struct error *err)
{
	struct profile_expired gone = {.epochs = 0};
	int r;

	if (writer->epoch == 0)
		return error_set(err, EINVAL, "'%s': no epoch is open", writer->path);
	r = profile_writer_begin(writer, err);
	if (r < 0)
		return r;
	while (r >= 0 && gone.epochs == 0)
		r = epoch_shrink(writer, writer->epoch, &gone, err);
	r = profile_writer_settle(writer, r, err);
	if (r == 0)
		writer->epoch = 0;
	return r;
}
