/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A writer whose database is removed, moved, replaced or overwritten while it is open.
 *
 * profile_writer_begin() checks the file before each transaction and returns -ESTALE if it is not
 * the file that was opened. A writer that continues with a new database then calls these functions.
 *
 *	profile_writer_place()		determines what happened.
 *	profile_writer_follow()		permits writing the last samples to a moved file.
 *	profile_writer_complete()	then makes it complete without its log.
 *	profile_writer_reopen()		opens the file at the path, or a new database.
 *
 * The file that is now at the path is never changed before it is known to be a profile database
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
 * enum profile_place - state of the open database
 * @PROFILE_IN_PLACE:    still at its path
 * @PROFILE_MOVED:       sound, under another name or without its log or shared memory
 * @PROFILE_REMOVED:     it has no name
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

/** profile_writer_place() - determine the state of the open database */
enum profile_place profile_writer_place(const struct profile_writer *writer);

/**
 * profile_writer_moved_to() - return the current name of the database
 * @name: out, of PATH_MAX bytes
 *
 * Return: false if it has no name, or the name is unknown.
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
 * profile_writer_being_copied() - return true if the file at the path changed in the last second
 *
 * Another program may be copying a database there; it should be opened later.
 */
bool profile_writer_being_copied(const struct profile_writer *writer);

/**
 * profile_writer_reopen() - close the database and open the one at the path, or a new one
 * @renamed: out, of PATH_MAX bytes: the new name of a file that was at the path and that is not
 *         a sound profile database which this version can write; "" if there was none
 *
 * No epoch is open afterwards.
 *
 * Return: 0, or as profile_writer_open(): then the writer has no database, every transaction
 * fails with -ESTALE, and this function may be called again.
 */
int profile_writer_reopen(struct profile_writer *writer, char *renamed, struct error *err);

/**
 * profile_writer_accounted() - add up samples and losses of an epoch in this database
 * @epoch:     identifies the epoch by its start, host and machine
 * @accounted: out: its interrupts without the loss "pending"
 *
 * Return: 1; 0 the database has no such epoch; or negative errno.
 */
int profile_writer_accounted(struct profile_writer *writer, const struct profile_epoch *epoch,
			     uint64_t *accounted, struct error *err);

#endif
