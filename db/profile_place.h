/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A writer whose database is removed, moved, replaced or overwritten while it is open.
 *
 * profile_writer_begin() looks at the file before each transaction and returns -ESTALE if another
 * file was opened. A writer that goes on with a new database then calls these.
 *
 *	profile_writer_place()		finds out what happened.
 *	profile_writer_follow()		if the file was moved, write the last samples to it.
 *	profile_writer_complete()	then leave it complete without its log.
 *	profile_writer_reopen()		open the file at the path, or a new database.
 *
 * The file that is at the path now is never changed before it is known to be a profile database
 * that this version can write; any other file is renamed.
 */
#ifndef DCPI_PROFILE_PLACE_H
#define DCPI_PROFILE_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct error;
struct profile_epoch;
struct profile_writer;

/**
 * enum profile_place - where the open database is
 * @PROFILE_IN_PLACE:    at its path
 * @PROFILE_MOVED:       sound, under another name or without its log or shared memory
 * @PROFILE_REMOVED:     it has no name any more
 * @PROFILE_OVERWRITTEN: the file has other contents
 * @PROFILE_CLOSED:      the last profile_writer_reopen() failed
 */
enum profile_place {
	PROFILE_IN_PLACE,
	PROFILE_MOVED,
	PROFILE_REMOVED,
	PROFILE_OVERWRITTEN,
	PROFILE_CLOSED,
};

/** profile_writer_place() - find out where the open database is. */
enum profile_place profile_writer_place(const struct profile_writer *writer);

/**
 * profile_writer_moved_to() - the name that the database has now
 * @name: out, of PATH_MAX bytes
 *
 * Return: false if it has none, or it is not known.
 */
bool profile_writer_moved_to(const struct profile_writer *writer, char *name);

/** profile_writer_follow() - permit or forbid transactions in a moved database. */
void profile_writer_follow(struct profile_writer *writer, bool follow);

/**
 * profile_writer_complete() - copy all of the log to a moved database
 *
 * Return: 0; -EBUSY another program reads an older state of the database; or negative errno.
 */
int profile_writer_complete(struct profile_writer *writer, struct error *err);

/**
 * profile_writer_being_copied() - whether the file at the path changed within the last second
 *
 * Another program may be copying a database there; it should be opened later.
 */
bool profile_writer_being_copied(const struct profile_writer *writer);

/**
 * profile_writer_reopen() - close the database and open that at the path, or a new one
 * @aside: out, of PATH_MAX bytes: the new name of a file that was at the path and that is not
 *         a sound profile database which this version can write; "" if there was none
 *
 * No epoch is open afterwards.
 *
 * Return: 0, or as profile_writer_open(): then the writer has no database, every transaction
 * fails with -ESTALE, and this function may be called again.
 */
int profile_writer_reopen(struct profile_writer *writer, char *aside, struct error *err);

/**
 * profile_writer_accounted() - samples and losses of an epoch in this database
 * @epoch:     its start, host and machine
 * @accounted: out: its interrupts without the loss "pending"
 *
 * Return: 1; 0 the database has no such epoch; or negative errno.
 */
int profile_writer_accounted(struct profile_writer *writer, const struct profile_epoch *epoch,
			     uint64_t *accounted, struct error *err);

#endif
