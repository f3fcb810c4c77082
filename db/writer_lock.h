/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One writer at a time: a lock on the file PATH-lock beside the database.
 *
 * Not on the database itself: closing any descriptor of that file would drop
 * SQLite's own (POSIX) locks. The lock ends with the process, however that
 * ends; the file stays, since removing it would be a race.
 */
#ifndef DCPI_WRITER_LOCK_H
#define DCPI_WRITER_LOCK_H

struct error;

/**
 * writer_lock_take() - become the writer of a database
 * @fd: out; closing it gives the lock back
 *
 * Return: 0; -EBUSY there is another writer; or open(2)'s error.
 */
int writer_lock_take(int *fd, const char *path, struct error *err);

#endif
