// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_write.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>

#include "db/profile_writer.h"
#include "db/writer_lock.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Twice the size of an epoch's totals, of its end, and of growth of the WAL index. */
#define RESERVE_BYTES (256 << 10)

static const char *const statement_sql[WRITER_STATEMENTS] = {
	[WRITER_HOST_ADD] = "INSERT INTO host (name, machine_id) VALUES (?1, ?2) "
			    "ON CONFLICT DO NOTHING",
	[WRITER_HOST_FIND] = "SELECT id FROM host WHERE name = ?1 AND machine_id = ?2",
	[WRITER_EPOCH_ADD] = "INSERT INTO epoch (host, start_ns, end_ns, open, cpu_model, cpus, "
			     "kernel, source, source_reason, label, interrupts) "
			     "VALUES (?1, ?2, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, 0)",
	[WRITER_EPOCH_END] = "UPDATE epoch SET open = 0, end_ns = max(start_ns, end_ns, ?2) "
			     "WHERE id = ?1",
	[WRITER_EPOCH_FIND] = "SELECT end_ns = ?5 AND interrupts = ?6 FROM epoch "
			      "JOIN host ON host.id = epoch.host WHERE start_ns = ?1 "
			      "AND host.name = ?2 AND machine_id = ?3 AND source = ?4",
	[WRITER_EVENT_ADD] = "INSERT INTO event (epoch, number, name, unit, period_min, "
			     "period_max) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
	[WRITER_EVENT_TIME] = "UPDATE event SET enabled_ns = ?3, running_ns = ?4 "
			      "WHERE epoch = ?1 AND number = ?2",
	[WRITER_TOTALS] = "UPDATE epoch SET interrupts = ?2, end_ns = max(end_ns, ?3) "
			  "WHERE id = ?1",
	[WRITER_COUNTER_SET] = "INSERT INTO counter VALUES (?1, ?2, ?3, ?4) "
			       "ON CONFLICT DO UPDATE SET count = excluded.count",
	[WRITER_COUNTER_ADD] = "INSERT INTO counter VALUES (?1, ?2, ?3, ?4) "
			       "ON CONFLICT DO UPDATE SET count = count + excluded.count",
	[WRITER_PROCESS_SET] = "INSERT INTO process (epoch, pid, command, label) "
			       "VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE "
			       "SET command = excluded.command, label = excluded.label",
	[WRITER_LABEL_SET] = "INSERT INTO label (epoch, number, unit, container) "
			     "VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE "
			     "SET unit = excluded.unit, container = excluded.container",
	[WRITER_SHARE_ADD] = "INSERT INTO share (epoch, image, event, label, samples) "
			     "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE "
			     "SET samples = samples + excluded.samples",
	[WRITER_IMAGE_FIND] = "SELECT id, path FROM image WHERE kind = ?1 AND identity_kind = ?2 "
			      "AND identity = ?3 AND identity_kind <> 0",
	[WRITER_IMAGE_FIND_PATH] = "SELECT id, path FROM image WHERE kind = ?1 AND path = ?2 "
				   "AND host = ?3 AND identity_kind = 0",
	[WRITER_IMAGE_ADD] = "INSERT INTO image (kind, identity_kind, identity, path, host) "
			     "VALUES (?1, ?2, ?3, ?4, ?5)",
	[WRITER_IMAGE_RENAME] = "UPDATE image SET path = ?2 WHERE id = ?1",
	[WRITER_SYMBOLS_SET] = "INSERT INTO symbol VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE "
			       "SET symbols = excluded.symbols, data = excluded.data",
	[WRITER_SYMBOLS_FIND] = "SELECT 1 FROM symbol WHERE image = ?1",
	[WRITER_SYMBOLS_READ] = "SELECT data FROM symbol WHERE image = ?1",
	[WRITER_CODE_BYTES] = "SELECT ifnull(sum(length(data)), 0) FROM code WHERE image = ?1",
	[WRITER_CODE_ADD] = "INSERT INTO code VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
	[WRITER_CODE_SET] = "INSERT INTO code VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE "
			    "SET data = excluded.data",
	[WRITER_PROFILE_FIND] = "SELECT samples, data FROM profile "
				"WHERE epoch = ?1 AND image = ?2 AND event = ?3 AND pid = ?4",
	[WRITER_PROFILE_SET] = "INSERT INTO profile VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) "
			       "ON CONFLICT DO UPDATE SET samples = excluded.samples, "
			       "offsets = excluded.offsets, data = excluded.data",
	[WRITER_SLICE_FIND] = "SELECT id FROM slice WHERE epoch = ?1 AND start_ns = ?2",
	[WRITER_SLICE_ADD] = "INSERT INTO slice (epoch, start_ns, end_ns, interrupts, bytes) "
			     "VALUES (?1, ?2, ?2, 0, 0)",
	/*
	 * An estimate: pages of short rows are some 60% full, and most of a long row is in
	 * overflow pages of its own. A row has 24 bytes of key, counts and page entry, a share 16.
	 */
	[WRITER_SLICE_SET] = "UPDATE slice SET end_ns = max(end_ns, ?2), interrupts = ?3, "
			     "bytes = (SELECT ifnull(sum(CASE WHEN length(data) <= 210 "
			     "THEN (length(data) + 24) * 5 / 3 "
			     "ELSE 220 + (length(data) + 939) / 1020 * 1024 END), 0) "
			     "FROM slice_profile WHERE slice = ?1) + "
			     "(SELECT 28 * count(*) FROM slice_share WHERE slice = ?1) "
			     "WHERE id = ?1",
	[WRITER_SLICE_COUNTER_SET] = "INSERT INTO slice_counter VALUES (?1, ?2, ?3, ?4) "
				     "ON CONFLICT DO UPDATE SET count = excluded.count",
	[WRITER_SLICE_COUNTER_UNSET] = "DELETE FROM slice_counter WHERE slice = ?1 "
				       "AND counter_group = ?2 AND name = ?3 AND ?4 = 0",
	[WRITER_SLICE_COUNTER_ADD] = "INSERT INTO slice_counter VALUES (?1, ?2, ?3, ?4) "
				     "ON CONFLICT DO UPDATE SET count = count + excluded.count",
	[WRITER_SLICE_PROFILE_FIND] = "SELECT samples, data FROM slice_profile "
				      "WHERE slice = ?1 AND image = ?2 AND event = ?3 AND pid = ?4",
	[WRITER_SLICE_PROFILE_SET] =
		"INSERT INTO slice_profile VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) "
		"ON CONFLICT DO UPDATE SET samples = excluded.samples, "
		"offsets = excluded.offsets, data = excluded.data",
	[WRITER_SLICE_SHARE_ADD] = "INSERT INTO slice_share VALUES (?1, ?2, ?3, ?4, ?5) "
				   "ON CONFLICT DO UPDATE SET samples = samples + excluded.samples",
	[WRITER_EDGES_FIND] = "SELECT total, data FROM edge "
			      "WHERE epoch = ?1 AND image = ?2 AND to_image = ?3 AND kind = ?4",
	[WRITER_EDGES_SET] = "INSERT INTO edge VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) "
			     "ON CONFLICT DO UPDATE SET pairs = excluded.pairs, "
			     "total = excluded.total, data = excluded.data",
	[WRITER_COUNTS_FIND] = "SELECT total, data FROM execution "
			       "WHERE epoch = ?1 AND image = ?2 AND kind = ?4",
	[WRITER_COUNTS_SET] = "INSERT INTO execution VALUES (?1, ?2, ?4, ?5, ?6, ?7) "
			      "ON CONFLICT DO UPDATE SET ranges = excluded.ranges, "
			      "total = excluded.total, data = excluded.data",
	[WRITER_RECORDING_ADD] = "INSERT INTO recording VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
				 "ON CONFLICT DO NOTHING",
	[WRITER_RECORDING_SET] = "INSERT INTO recording VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
				 "ON CONFLICT DO UPDATE SET metric = excluded.metric, "
				 "records = excluded.records, data = excluded.data",
	[WRITER_RECORDINGS_CLEAR] = "DELETE FROM recording WHERE epoch = ?1 AND mode = ?2",
};

int profile_writer_statement(struct profile_writer *writer, enum writer_statement which,
			     sqlite3_stmt **ret, struct error *err)
{
	int r;

	if (writer->statements[which] == NULL) {
		r = database_prepare(&writer->db, statement_sql[which], &writer->statements[which],
				     err);
		if (r < 0)
			return r;
	}
	sqlite3_reset(writer->statements[which]);
	*ret = writer->statements[which];
	return 0;
}

int profile_writer_in_transaction(struct profile_writer *writer, struct error *err)
{
	if (writer->db.handle == NULL || sqlite3_get_autocommit(writer->db.handle))
		return error_set(err, EINVAL, "'%s': no transaction is open", writer->path);
	return 0;
}

int profile_writer_in_epoch(struct profile_writer *writer, struct error *err)
{
	if (writer->epoch == 0)
		return error_set(err, EINVAL, "'%s': no epoch is open", writer->path);
	return profile_writer_in_transaction(writer, err);
}

int profile_writer_check_count(uint64_t count, const char *what, struct error *err)
{
	if (count > INT64_MAX)
		return error_set(err, EOVERFLOW, "'%s': %llu is too large", what,
				 (unsigned long long)count);
	return 0;
}

/*
 * Create the file only if it is missing. Closing a descriptor of a database that this process has
 * open would drop SQLite's locks on it.
 */
static int create_missing(const char *path, struct error *err)
{
	int fd;

	if (*path == '\0')
		return error_set(err, ENOENT, "the name of the database is empty");
	if (access(path, F_OK) == 0)
		return 0;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (fd < 0)
		return errno == EEXIST ? 0 : error_set_errno(err, ERROR_CREATE, path);
	close(fd);
	return 0;
}

int profile_writer_attach(struct profile_writer *writer, struct error *err)
{
	_cleanup_free_ char *absolute = NULL;
	int r;

	r = create_missing(writer->path, err);
	if (r < 0)
		return r;
	absolute = realpath(writer->path, NULL);
	if (absolute == NULL)
		return error_set_errno(err, ERROR_OPEN, writer->path);
	r = writer_lock_take(&writer->lock, absolute, err);
	if (r == 0)
		r = database_open_write(&writer->db, writer->path, err);
	if (r == 0 && strcmp(writer->db.path, absolute) != 0)
		return error_set(err, EBUSY, ERROR_OPEN ": it was replaced meanwhile",
				 writer->path);
	if (r == 0)
		r = database_exec(&writer->db, "UPDATE epoch SET open = 0 WHERE open = 1", "write",
				  err);
	/* SQLite releases shared memory only for databases with a log. */
	if (r == 0)
		database_file_note(&writer->db.file, writer->db.handle);
	return r;
}

void profile_writer_detach(struct profile_writer *writer)
{
	profile_writer_rollback(writer);
	for (size_t i = 0; i < WRITER_STATEMENTS; i++) {
		sqlite3_finalize(writer->statements[i]);
		writer->statements[i] = NULL;
	}
	database_close(&writer->db);
	profile_writer_release(writer);
	cleanup_close(&writer->lock);
	writer->lock = -1;
	writer->epoch = 0;
	writer->following = false;
}

int profile_writer_open(struct profile_writer **ret, const char *path, struct error *err)
{
	struct profile_writer *writer = calloc(1, sizeof(*writer));
	int r;

	if (writer == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	writer->lock = -1;
	writer->reserve = -1;
	writer->path = strdup(path);
	r = writer->path == NULL ? error_set(err, ENOMEM, ERROR_NO_MEMORY)
				 : profile_writer_attach(writer, err);
	if (r < 0) {
		profile_writer_close(writer);
		return r;
	}
	*ret = writer;
	return 0;
}

void profile_writer_wait(struct profile_writer *writer, int milliseconds)
{
	if (writer->db.handle != NULL)
		sqlite3_busy_timeout(writer->db.handle, milliseconds);
}

void profile_writer_close(struct profile_writer *writer)
{
	if (writer == NULL)
		return;
	profile_writer_detach(writer);
	free(writer->path);
	profile_pairs_deinit(&writer->stored);
	profile_pairs_deinit(&writer->merged);
	edge_list_deinit(&writer->stored_edges);
	edge_list_deinit(&writer->merged_edges);
	profile_blob_deinit(&writer->blob);
	free(writer);
}

/* The file has no name, so that the space is freed even if this process is killed. */
static int reserve_open(const char *database)
{
	_cleanup_free_ char *path = NULL;
	int fd;

	if (asprintf(&path, "%s-reserve", database) < 0) {
		path = NULL;
		return -1;
	}
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		unlink(path);
	return fd;
}

bool profile_writer_reserve(struct profile_writer *writer)
{
	_cleanup_close_ int fd = -1;

	if (writer->reserve >= 0)
		return true;
	fd = reserve_open(writer->path);
	if (fd < 0 || posix_fallocate(fd, 0, RESERVE_BYTES) != 0)
		return false;
	writer->reserve = take_fd(fd);
	return true;
}

void profile_writer_release(struct profile_writer *writer)
{
	cleanup_close(&writer->reserve);
	writer->reserve = -1;
}

int profile_writer_begin(struct profile_writer *writer, struct error *err)
{
	int r = profile_writer_check_place(writer, err);

	if (r < 0)
		return r;
	if (!sqlite3_get_autocommit(writer->db.handle))
		return error_set(err, EINVAL, "'%s': a transaction is open already", writer->path);
	return database_exec(&writer->db, "BEGIN IMMEDIATE", "write", err);
}

int profile_writer_commit(struct profile_writer *writer, struct error *err)
{
	int r = profile_writer_in_transaction(writer, err);

	if (r == 0)
		r = database_exec(&writer->db, "COMMIT", "write", err);
	database_file_note(&writer->db.file, writer->db.handle);
	return r;
}

void profile_writer_rollback(struct profile_writer *writer)
{
	size_t i;

	if (writer->db.handle == NULL)
		return;
	for (i = 0; i < WRITER_STATEMENTS; i++)
		sqlite3_reset(writer->statements[i]);
	/* After some errors SQLite has already rolled back. */
	if (!sqlite3_get_autocommit(writer->db.handle))
		sqlite3_exec(writer->db.handle, "ROLLBACK", NULL, NULL, NULL);
}

int profile_writer_settle(struct profile_writer *writer, int r, struct error *err)
{
	if (r >= 0)
		r = profile_writer_commit(writer, err);
	if (r < 0)
		profile_writer_rollback(writer);
	return r;
}

int64_t profile_writer_epoch_id(const struct profile_writer *writer)
{
	return writer->epoch;
}
