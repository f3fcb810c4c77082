// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_place.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "db/profile_writer.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"

/*
 * Time limit for checking a new database at the path. After it, the database is opened unchecked.
 */
#define CHECK_NS (200 * NS_PER_MS)
#define CHECK_STEPS 1000
#define QUIET_NS ((int64_t)NS_PER_SECOND)

enum profile_place profile_writer_place(const struct profile_writer *writer)
{
	if (writer->db.handle == NULL)
		return PROFILE_CLOSED;
	switch (database_file_place(&writer->db.file, writer->db.handle)) {
	case DATABASE_IN_PLACE:
		break;
	case DATABASE_MOVED:
		return PROFILE_MOVED;
	case DATABASE_REMOVED:
		return PROFILE_REMOVED;
	case DATABASE_OVERWRITTEN:
		return PROFILE_OVERWRITTEN;
	}
	return PROFILE_IN_PLACE;
}

int profile_writer_check_place(const struct profile_writer *writer, struct error *err)
{
	static const char *const texts[] = {
		[PROFILE_MOVED] = "was moved",
		[PROFILE_REMOVED] = "was removed",
		[PROFILE_OVERWRITTEN] = "was overwritten",
		[PROFILE_CLOSED] = "is not open",
	};
	enum profile_place place =
		writer->following ? PROFILE_IN_PLACE : profile_writer_place(writer);

	if (place == PROFILE_IN_PLACE)
		return 0;
	return error_set(err, ESTALE, "database '%s' %s", writer->path, texts[place]);
}

bool profile_writer_moved_to(const struct profile_writer *writer, char *name)
{
	return database_file_name(&writer->db.file, name, PATH_MAX);
}

void profile_writer_follow(struct profile_writer *writer, bool follow)
{
	writer->following = follow;
}

int profile_writer_complete(struct profile_writer *writer, struct error *err)
{
	int frames = 0, copied = 0;
	int rc = sqlite3_wal_checkpoint_v2(writer->db.handle, NULL, SQLITE_CHECKPOINT_TRUNCATE,
					   &frames, &copied);

	database_file_note(&writer->db.file, writer->db.handle);
	if (rc == SQLITE_OK || ((rc & 0xff) == SQLITE_BUSY && frames >= 0 && frames == copied))
		return 0;
	return database_fail(&writer->db, rc, "complete", err);
}

bool profile_writer_being_copied(const struct profile_writer *writer)
{
	struct stat status;
	int64_t age_ns;

	if (stat(writer->path, &status) < 0 ||
	    (database_file_is_at(&writer->db.file, writer->path) &&
	     profile_writer_place(writer) != PROFILE_OVERWRITTEN))
		return false;
	age_ns = clock_real_ns() -
		 ((int64_t)status.st_mtim.tv_sec * (int64_t)NS_PER_SECOND + status.st_mtim.tv_nsec);
	return age_ns >= 0 && age_ns < QUIET_NS;
}

static int is_late(void *context)
{
	const uint64_t *end_ns = context;

	return clock_monotonic_ns() > *end_ns;
}

/* The check takes no longer than the daemon can go without draining. */
static int check_integrity(struct profile_writer *writer, struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	uint64_t end_ns = clock_monotonic_ns() + CHECK_NS;
	bool is_intact = true;
	int r, rc;

	r = database_prepare(&writer->db, "PRAGMA quick_check(1)", &statement, err);
	if (r < 0)
		return r;
	sqlite3_progress_handler(writer->db.handle, CHECK_STEPS, is_late, &end_ns);
	rc = sqlite3_step(statement);
	if (rc == SQLITE_ROW)
		is_intact = strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
	sqlite3_progress_handler(writer->db.handle, 0, NULL, NULL);
	if (!is_intact)
		return database_corrupt(&writer->db, err, "its tables are inconsistent");
	if (rc == SQLITE_ROW || rc == SQLITE_INTERRUPT)
		return 0;
	return database_fail(&writer->db, rc, "check", err);
}

/* Rename a log that belongs to no file at the path, or to none that this writer has seen. */
static int rename_orphan_log(struct profile_writer *writer, bool same, char *renamed,
			     struct error *err)
{
	struct stat status;
	int r;

	if (!same && (stat(writer->path, &status) == 0 || errno != ENOENT))
		return 0;
	r = database_file_rename_replaced(writer->path, false, renamed, PATH_MAX);
	return r < 0 ? error_set(err, -r, "cannot rename the log of '%s': %s", writer->path,
				 strerror(-r))
		     : 0;
}

static bool is_unusable(const struct profile_writer *writer, int r)
{
	struct stat status;

	return (r == -EMEDIUMTYPE || r == -EBADMSG || r == -EPROTO) &&
	       stat(writer->path, &status) == 0 && S_ISREG(status.st_mode);
}

static int open_checked(struct profile_writer *writer, struct error *err)
{
	int r = profile_writer_attach(writer, err);

	return r == 0 ? check_integrity(writer, err) : r;
}

int profile_writer_reopen(struct profile_writer *writer, char *renamed, struct error *err)
{
	bool same = database_file_is_at(&writer->db.file, writer->path);
	int r;

	renamed[0] = '\0';
	profile_writer_detach(writer);
	r = rename_orphan_log(writer, same, renamed, err);
	if (r == 0)
		r = open_checked(writer, err);
	if (is_unusable(writer, r)) {
		profile_writer_detach(writer);
		r = database_file_rename_replaced(writer->path, true, renamed, PATH_MAX);
		if (r < 0)
			return error_set(err, -r, "cannot rename '%s': %s", writer->path,
					 strerror(-r));
		r = open_checked(writer, err);
	}
	if (r < 0)
		profile_writer_detach(writer);
	return r;
}

int profile_writer_accounted(struct profile_writer *writer, const struct profile_epoch *epoch,
			     uint64_t *accounted, struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = database_prepare(&writer->db,
				 "SELECT interrupts - (SELECT ifnull(sum(count), 0) FROM counter "
				 "WHERE epoch = epoch.id AND counter_group = 'loss' "
				 "AND counter.name = 'pending') FROM epoch "
				 "JOIN host ON host.id = epoch.host WHERE start_ns = ?1 "
				 "AND host.name = ?2 AND machine_id = ?3",
				 &statement, err);

	if (r == 0)
		r = database_bind(&writer->db, statement, err, "itt", epoch->start_ns, epoch->host,
				  epoch->machine_id);
	if (r == 0)
		r = database_step(&writer->db, statement, "read", err);
	if (r == 1)
		*accounted = (uint64_t)sqlite3_column_int64(statement, 0);
	return r;
}
