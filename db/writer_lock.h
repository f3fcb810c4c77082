/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One writer at a time: a lock on the file PATH-lock next to the database.
 *
 * The lock is not on the database itself: closing any descriptor of that file would drop SQLite's
 * own (POSIX) locks. The lock always ends with the process; the file is permanent, since
 * removing it would be a race.
 */
#ifndef DCPI_WRITER_LOCK_H
#define DCPI_WRITER_LOCK_H

#include <stdbool.h>

struct error;

/**
 * writer_lock_take() - become the writer of a database
 * @fd: out; closing it releases the lock
 *
 * Return: 0; -EBUSY there is another writer; or open(2)'s error.
 */
int writer_lock_take(int *fd, const char *path, struct error *err);

/**
 * writer_lock_is_held() - return true if a database has a writer now
 *
 * Return: true also if this is unknown, since only the writer's user may open the lock.
 */
bool writer_lock_is_held(const char *path);

#endif
