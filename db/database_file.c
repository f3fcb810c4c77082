// SPDX-License-Identifier: GPL-2.0-only
#include "db/database_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"

#define RENAME_ATTEMPTS_MAX 1000
/* https://www.sqlite.org/walformat.html: two headers, then the progress of checkpoints. */
#define SHARED_REGION_BYTES 32768
#define SHARED_FRAMES 16
#define SHARED_PAGE_BYTES 14
#define SHARED_SALT 32
#define SHARED_BACKFILL 96
#define SHARED_ATTEMPTED 128
#define LOG_HEADER_BYTES 32
#define LOG_FRAME_HEADER_BYTES 24
#define LOG_SALT 16
#define SALT_BYTES 8

static struct file_identity identity_of(const struct stat *status)
{
	return (struct file_identity){
		.device = status->st_dev,
		.inode = status->st_ino,
		.size = status->st_size,
		.changed = status->st_mtim,
	};
}

/* Return the identity of PATH with @suffix; all members are zero if no such file exists. */
static struct file_identity identity_at(const char *path, const char *suffix)
{
	char name[PATH_MAX];
	struct stat status;
	int length = snprintf(name, sizeof(name), "%s%s", path, suffix);

	if (length < 0 || (size_t)length >= sizeof(name) || stat(name, &status) < 0)
		return (struct file_identity){.inode = 0};
	return identity_of(&status);
}

static bool is_same_file(const struct file_identity *a, const struct file_identity *b)
{
	return a->device == b->device && a->inode == b->inode;
}

static bool is_written(const struct file_identity *then, const struct file_identity *now)
{
	return then->size != now->size || then->changed.tv_sec != now->changed.tv_sec ||
	       then->changed.tv_nsec != now->changed.tv_nsec;
}

/* NULL: a VFS that shares no memory, or nothing is shared yet. */
static const volatile unsigned char *shared_memory(sqlite3 *handle)
{
	volatile void *memory = NULL;
	sqlite3_file *main = NULL;

	sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &main);
	if (main == NULL || main->pMethods == NULL || main->pMethods->iVersion < 2 ||
	    main->pMethods->xShmMap == NULL ||
	    main->pMethods->xShmMap(main, 0, SHARED_REGION_BYTES, 0, &memory) != SQLITE_OK)
		return NULL;
	return memory;
}

static bool shared_read(sqlite3 *handle, unsigned char *bytes)
{
	const volatile unsigned char *memory = shared_memory(handle);

	memset(bytes, 0, DATABASE_SHARED_BYTES);
	if (memory == NULL)
		return false;
	for (size_t i = 0; i < SHARED_BACKFILL + 4; i++)
		bytes[i] = memory[i];
	for (size_t i = 0; i < 4; i++)
		bytes[SHARED_BACKFILL + 4 + i] = memory[SHARED_ATTEMPTED + i];
	return true;
}

/*
 * Mapping the shared memory of a database that was never used with a log would make SQLite leak it.
 */
static bool shared_read_noted(const struct database_file *file, sqlite3 *handle,
			      unsigned char *bytes)
{
	return file->memory.inode != 0 && shared_read(handle, bytes);
}

int database_file_hold(struct database_file *file, const char *given, const char *path)
{
	struct stat status;

	file->given = strdup(given);
	if (file->given == NULL)
		return -ENOMEM;
	file->path = path;
	/* Closing a descriptor without O_PATH would drop SQLite's locks. */
	file->fd = open(path, O_PATH | O_CLOEXEC);
	if (file->fd < 0)
		return -errno;
	file->held = true;
	if (fstat(file->fd, &status) < 0)
		return -errno;
	file->main = identity_of(&status);
	return 0;
}

/* Record a file next to the database. A file that another program has put there is ignored. */
static void note_sibling(const struct database_file *file, const char *suffix,
			 struct file_identity *noted)
{
	struct file_identity now = identity_at(file->path, suffix);

	if (noted->inode == 0 || is_same_file(noted, &now))
		*noted = now;
}

/*
 * Read the shared memory first, so that a later change by another connection is recognised as such.
 */
void database_file_note(struct database_file *file, sqlite3 *handle)
{
	struct stat status;

	if (!file->held || handle == NULL)
		return;
	shared_read(handle, file->shared);
	if (fstat(file->fd, &status) == 0)
		file->main = identity_of(&status);
	note_sibling(file, "-wal", &file->log);
	note_sibling(file, "-shm", &file->memory);
}

static uint32_t shared_number(const unsigned char *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* Return true if the log lacks transactions that the database does not have yet. */
static bool is_log_damaged(sqlite3 *handle, const unsigned char *shared)
{
	unsigned char header[LOG_HEADER_BYTES];
	uint32_t frames = shared_number(shared + SHARED_FRAMES);
	sqlite3_file *log = NULL;
	uint64_t page_bytes;
	sqlite3_int64 size = 0;
	uint16_t code;

	sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
	if (log == NULL || log->pMethods == NULL ||
	    frames <= shared_number(shared + SHARED_BACKFILL))
		return false;
	memcpy(&code, shared + SHARED_PAGE_BYTES, sizeof(code));
	page_bytes = (code & 0xfe00U) + ((code & 1U) << 16);
	if (log->pMethods->xFileSize(log, &size) != SQLITE_OK ||
	    log->pMethods->xRead(log, header, sizeof(header), 0) != SQLITE_OK)
		return size < LOG_HEADER_BYTES;
	return memcmp(header + LOG_SALT, shared + SHARED_SALT, SALT_BYTES) != 0 ||
	       (uint64_t)size < LOG_HEADER_BYTES + frames * (page_bytes + LOG_FRAME_HEADER_BYTES);
}

static bool is_file_in_place(const struct database_file *file, const char *path)
{
	struct file_identity log = identity_at(file->path, "-wal");
	struct file_identity memory = identity_at(file->path, "-shm");
	struct stat status;
	struct file_identity main;

	/* Other failures do not show that the file was moved. */
	if (stat(path, &status) < 0)
		return errno != ENOENT && errno != ENOTDIR && errno != ELOOP;
	main = identity_of(&status);
	return is_same_file(&main, &file->main) && is_same_file(&log, &file->log) &&
	       is_same_file(&memory, &file->memory);
}

bool database_file_is_at(const struct database_file *file, const char *path)
{
	struct file_identity main = identity_at(path, "");

	return file->held && is_same_file(&main, &file->main);
}

enum database_place database_file_place(const struct database_file *file, sqlite3 *handle)
{
	unsigned char shared[DATABASE_SHARED_BYTES];
	struct file_identity main;
	struct stat status;

	if (!file->held || handle == NULL || fstat(file->fd, &status) < 0)
		return DATABASE_IN_PLACE;
	if (status.st_nlink == 0)
		return DATABASE_REMOVED;
	main = identity_of(&status);
	if (shared_read_noted(file, handle, shared) &&
	    ((is_written(&file->main, &main) &&
	      memcmp(shared, file->shared, sizeof(shared)) == 0) ||
	     is_log_damaged(handle, shared)))
		return DATABASE_OVERWRITTEN;
	return is_file_in_place(file, file->given) ? DATABASE_IN_PLACE : DATABASE_MOVED;
}

/* Remove a file of this connection. A log that another program has written is kept. */
static void remove_own(const struct database_file *file, const char *suffix,
		       const struct file_identity *own, bool contents)
{
	struct file_identity now = identity_at(file->path, suffix);
	char name[PATH_MAX];

	if (now.inode == 0 || !is_same_file(&now, own) || (contents && is_written(own, &now)))
		return;
	snprintf(name, sizeof(name), "%s%s", file->path, suffix);
	unlink(name);
}

/*
 * The log has transactions that could not be copied to the database. Rename it along with the
 * database.
 */
static void log_follow(const struct database_file *file)
{
	char from[PATH_MAX], to[PATH_MAX], name[PATH_MAX];
	struct file_identity now = identity_at(file->path, "-wal");

	if (!is_same_file(&now, &file->log) || !database_file_name(file, name, sizeof(name)) ||
	    snprintf(from, sizeof(from), "%s-wal", file->path) >= (int)sizeof(from) ||
	    snprintf(to, sizeof(to), "%s-wal", name) >= (int)sizeof(to) ||
	    renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return;
	database_file_rename_replaced(file->path, false, name, sizeof(name));
}

static void close_moved(struct database_file *file, sqlite3 *handle, bool is_intact)
{
	unsigned char shared[DATABASE_SHARED_BYTES];
	int keep = 1;

	if (is_intact && shared_read_noted(file, handle, shared) &&
	    shared_number(shared + SHARED_FRAMES) > shared_number(shared + SHARED_BACKFILL))
		log_follow(file);
	sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
	sqlite3_close(handle);
	remove_own(file, "-wal", &file->log, true);
	remove_own(file, "-shm", &file->memory, false);
}

void database_file_close(struct database_file *file, sqlite3 *handle)
{
	enum database_place place = database_file_place(file, handle);

	if (place == DATABASE_IN_PLACE ||
	    (place == DATABASE_MOVED && is_file_in_place(file, file->path)))
		sqlite3_close(handle);
	else
		close_moved(file, handle, place == DATABASE_MOVED);
	if (file->held)
		close(file->fd);
	free(file->given);
	*file = (struct database_file){.held = false};
}

bool database_file_name(const struct database_file *file, char *name, size_t size)
{
	char link[32];
	struct stat status;
	ssize_t length;

	if (!file->held || fstat(file->fd, &status) < 0 || status.st_nlink == 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", file->fd);
	length = readlink(link, name, size);
	if (length <= 0 || (size_t)length >= size)
		return false;
	name[length] = '\0';
	return true;
}

/* Return: 1: renamed; 0: no such file; -EEXIST: the new name is in use; or another -errno. */
static int rename_one(const char *path, const char *suffix, unsigned int attempt, char *name,
		      size_t size)
{
	char from[PATH_MAX];

	if (snprintf(from, sizeof(from), "%s%s", path, suffix) >= (int)sizeof(from) ||
	    snprintf(name, size, "%s.replaced-%u%s", path, attempt, suffix) >= (int)size)
		return -ENAMETOOLONG;
	if (renameat2(AT_FDCWD, from, AT_FDCWD, name, RENAME_NOREPLACE) == 0)
		return 1;
	return errno == ENOENT ? 0 : -errno;
}

int database_file_rename_replaced(const char *path, bool main, char *name, size_t size)
{
	static const char *const suffixes[] = {"", "-wal", "-journal"};
	unsigned int attempt = 1;
	char renamed[PATH_MAX];

	name[0] = '\0';
	for (size_t i = main ? 0 : 1; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		int r = rename_one(path, suffixes[i], attempt, renamed, sizeof(renamed));

		/* Rename all files of a database with the same number. */
		while (r == -EEXIST && name[0] == '\0' && attempt < RENAME_ATTEMPTS_MAX)
			r = rename_one(path, suffixes[i], ++attempt, renamed, sizeof(renamed));
		if (r < 0)
			return r;
		if (r == 1 && name[0] == '\0')
			snprintf(name, size, "%s", renamed);
	}
	return 0;
}
