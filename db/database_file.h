/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The identity of the file that a writer has open, so that the writer detects before the next
 * transaction if another program has removed, moved, replaced or overwritten the database. Closing
 * it then does not change the file at its path. Private to db/.
 *
 * A file is the same if its device and inode are the same, its log and its shared memory are
 * those that SQLite opened, and no program but SQLite has written to it. SQLite shows each commit
 * and each checkpoint of any connection in the shared memory. If the size or the time of a
 * database changes and the shared memory does not, another program has overwritten the database.
 */
#ifndef DCPI_DATABASE_FILE_H
#define DCPI_DATABASE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct sqlite3;

/* Part of the shared memory that commits and checkpoints change, but readers do not. */
#define DATABASE_SHARED_BYTES 104

/** struct file_identity - a file, and its contents as far as stat(2) shows them */
struct file_identity {
	uint64_t device;
	uint64_t inode;
	int64_t size;
	struct timespec changed;
};

/**
 * struct database_file - the files of an open connection
 * @held:    false: the file is unknown and nothing is checked
 * @fd:      descriptor of the database, O_PATH
 * @given:   path as the caller named it; a symbolic link may lead elsewhere later
 * @path:    path that SQLite has opened; owned by the connection
 * @main, @log, @memory: identities after the last transaction
 * @shared:  contents of the shared memory at that time
 */
struct database_file {
	bool held;
	int fd;
	char *given;
	const char *path;
	struct file_identity main;
	struct file_identity log;
	struct file_identity memory;
	unsigned char shared[DATABASE_SHARED_BYTES];
};

/**
 * enum database_place - state of the open database
 * @DATABASE_IN_PLACE:    still at its path
 * @DATABASE_MOVED:       sound, but under another name, or without its log or shared memory
 * @DATABASE_REMOVED:     it has no name
 * @DATABASE_OVERWRITTEN: the file has other contents
 */
enum database_place {
	DATABASE_IN_PLACE,
	DATABASE_MOVED,
	DATABASE_REMOVED,
	DATABASE_OVERWRITTEN,
};

/**
 * database_file_hold() - record the identity of the file at a path, before SQLite opens it
 *
 * Return: 0 or negative errno.
 */
int database_file_hold(struct database_file *file, const char *given, const char *path);

/** database_file_note() - record the state after a transaction of this connection */
void database_file_note(struct database_file *file, struct sqlite3 *handle);

/** database_file_place() - determine the state of the open database */
enum database_place database_file_place(const struct database_file *file, struct sqlite3 *handle);

/** database_file_is_at() - return true if the open database is the file at a path */
bool database_file_is_at(const struct database_file *file, const char *path);

/**
 * database_file_close() - close the connection
 *
 * If the database is in place, SQLite checkpoints and removes the log by name. Otherwise the
 * database is not checkpointed; a log and a shared memory of this connection are removed, others
 * are kept.
 */
void database_file_close(struct database_file *file, struct sqlite3 *handle);

/**
 * database_file_name() - return the current name of the open database
 * @name: out
 *
 * Return: false if it has no name, or the name is unknown.
 */
bool database_file_name(const struct database_file *file, char *name, size_t size);

/**
 * database_file_rename_replaced() - rename a database, its log and its journal
 * @main: false: a log and a journal only
 * @name: out: the new name of the first file; "" if there was none
 *
 * The new name is PATH.replaced-N, with the first N that is free.
 *
 * Return: 0 or negative errno.
 */
int database_file_rename_replaced(const char *path, bool main, char *name, size_t size);

#endif
