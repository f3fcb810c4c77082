// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_write.h"

#include <sqlite3.h>

#include "db/profile_writer.h"
#include "lib/cleanup.h"
#include "lib/error.h"

/* Deletes one ended epoch that the condition selects. Return: how many. */
static int delete_epoch(struct profile_writer *writer, const char *sql, int64_t before_ns,
			struct error *err)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r;

	r = database_prepare(&writer->db, sql, &statement, err);
	if (r == 0)
		r = database_bind(&writer->db, statement, err, "i", before_ns);
	if (r == 0)
		r = database_step(&writer->db, statement, "write", err);
	return r < 0 ? r : sqlite3_changes(writer->db.handle);
}

/* Bytes of the file that hold something. */
static int used_bytes(struct profile_writer *writer, uint64_t *ret, struct error *err)
{
	int64_t pages, unused, page_bytes;
	int r;

	r = database_number(&writer->db, "PRAGMA page_count", &pages, err);
	if (r == 0)
		r = database_number(&writer->db, "PRAGMA freelist_count", &unused, err);
	if (r == 0)
		r = database_number(&writer->db, "PRAGMA page_size", &page_bytes, err);
	if (r == 0)
		*ret = (uint64_t)(pages - unused) * (uint64_t)page_bytes;
	return r;
}

static int delete_orphans(struct profile_writer *writer, struct error *err)
{
	return database_exec(&writer->db,
			     "DELETE FROM image WHERE NOT EXISTS "
			     "(SELECT 1 FROM profile WHERE profile.image = image.id) "
			     "AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.image = image.id) "
			     "AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.to_image = image.id);"
			     "DELETE FROM host WHERE NOT EXISTS "
			     "(SELECT 1 FROM epoch WHERE epoch.host = host.id)",
			     "write", err);
}

static int delete_old(struct profile_writer *writer, int64_t before_ns, uint64_t bytes_max,
		      unsigned int *deleted, struct error *err)
{
	uint64_t bytes = 0;
	int r;

	r = delete_epoch(writer, "DELETE FROM epoch WHERE open = 0 AND end_ns < ?1", before_ns,
			 err);
	if (r < 0)
		return r;
	*deleted = (unsigned int)r;
	for (;;) {
		/* Images whose last epoch has gone make room, too. */
		r = delete_orphans(writer, err);
		if (r == 0)
			r = used_bytes(writer, &bytes, err);
		if (r < 0 || bytes_max == 0 || bytes <= bytes_max)
			return r;
		r = delete_epoch(writer,
				 "DELETE FROM epoch WHERE id = (SELECT id FROM epoch "
				 "WHERE open = 0 AND ?1 IS NOT NULL ORDER BY end_ns, id LIMIT 1)",
				 before_ns, err);
		if (r <= 0)
			return r;
		*deleted += (unsigned int)r;
	}
}

int profile_writer_expire(struct profile_writer *writer, int64_t before_ns, uint64_t bytes_max,
			  unsigned int *deleted, struct error *err)
{
	unsigned int epochs = 0;
	int r;

	r = profile_writer_begin(writer, err);
	if (r < 0)
		return r;
	r = delete_old(writer, before_ns, bytes_max, &epochs, err);
	if (r == 0)
		r = profile_writer_commit(writer, err);
	if (r < 0) {
		profile_writer_rollback(writer);
		return r;
	}
	*deleted = epochs;
	return epochs > 0 ? database_exec(&writer->db, "PRAGMA incremental_vacuum", "shrink", err)
			  : 0;
}
