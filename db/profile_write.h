/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing a profile database: the daemon's side.
 *
 * A database has at most one writer; readers work beside it at any time
 * (WAL). All changes go through a transaction, which holds one merge: after a
 * crash the file is as it was after the last commit.
 *
 *	profile_writer_open()
 *	profile_writer_epoch_begin()
 *	  profile_writer_begin()
 *	    profile_writer_image(), _symbols(), _add(), _edges(), _process(),
 *	    _event_time(), _totals() ...
 *	  profile_writer_commit()
 *	profile_writer_epoch_end()
 *	profile_writer_close()
 *
 * Errors beside those named: -ENOSPC disk full (or quota, or file size limit),
 * -EIO, -ENOMEM, -EACCES, -EROFS, -EBADMSG the database is corrupt, -EOVERFLOW
 * a count, sum or period over INT64_MAX, -EINVAL a call out of place or an
 * unknown image or event. After a failure inside a transaction the caller
 * calls profile_writer_rollback() and may try the whole merge again later; the
 * numbers of images that the transaction had added are void then.
 *
 * Beside the database PATH stand PATH-lock, which stays, and while it is in
 * use PATH-wal and PATH-shm.
 */
#ifndef DCPI_PROFILE_WRITE_H
#define DCPI_PROFILE_WRITE_H

#include <stdbool.h>

#include "db/profile.h"

struct error;
struct profile_writer;

/**
 * profile_writer_open() - open a database for writing, create it if missing
 * @ret: out; freed by profile_writer_close()
 *
 * Directories are not created. An older schema is migrated; epochs that an
 * earlier writer left open are closed.
 *
 * Return: 0; -EBUSY another writer has it; -EMEDIUMTYPE the file is not a
 * profile database; -EISDIR; -ENOENT no such directory; -EPROTO it was made by
 * a newer version; others as above.
 */
int profile_writer_open(struct profile_writer **ret, const char *path, struct error *err);

/** profile_writer_close() - roll back what is open, check-point, unlock, free. NULL is fine. */
void profile_writer_close(struct profile_writer *writer);

/**
 * profile_writer_epoch_begin() - start an epoch, in a transaction of its own
 * @epoch:  all fields but id, end_ns, open and interrupts
 * @events: its events; their times are not looked at
 *
 * An epoch still open is ended first.
 */
int profile_writer_epoch_begin(struct profile_writer *writer, const struct profile_epoch *epoch,
			       const struct profile_event *events, size_t event_count,
			       struct error *err);

/** profile_writer_epoch_end() - close the epoch, in a transaction of its own. */
int profile_writer_epoch_end(struct profile_writer *writer, int64_t end_ns, struct error *err);

/** profile_writer_begin() - start a transaction. */
int profile_writer_begin(struct profile_writer *writer, struct error *err);

/** profile_writer_commit() - make the transaction durable. */
int profile_writer_commit(struct profile_writer *writer, struct error *err);

/** profile_writer_rollback() - drop the transaction; without one, nothing. */
void profile_writer_rollback(struct profile_writer *writer);

/**
 * profile_writer_image() - find an image by identity, or add it
 * @id: out: its number in this database
 *
 * The path of a known image is updated.
 */
int profile_writer_image(struct profile_writer *writer, const struct profile_image *image,
			 int64_t *id, struct error *err);

/**
 * profile_writer_symbols() - keep an image's symbols, replacing those kept
 * @symbols: sorted by offset
 */
int profile_writer_symbols(struct profile_writer *writer, int64_t image,
			   const struct profile_symbol *symbols, size_t count, struct error *err);

/** profile_writer_has_symbols() - whether some are kept. */
bool profile_writer_has_symbols(struct profile_writer *writer, int64_t image);

/**
 * profile_writer_add() - add samples to a profile of the current epoch
 * @image:   number of the image
 * @event:   number of the event in the epoch
 * @pid:     process, or PROFILE_PID_ALL
 * @samples: strictly ascending offsets, counts > 0
 *
 * The stored profile is read, merged and written anew: time and log space are
 * linear in what is stored, not only in what is added (some 50 ns and a byte
 * or two an offset, make bench). A caller with few samples for a large profile
 * had better gather more of them first.
 *
 * Return: 0; -EINVAL samples not in order, no epoch or no transaction open.
 */
int profile_writer_add(struct profile_writer *writer, int64_t image, uint32_t event, int64_t pid,
		       const struct profile_sample *samples, size_t count, struct error *err);

/**
 * profile_writer_edges() - add edges to those of the current epoch
 * @image:    number of the image that they come from
 * @to_image: of the one that they go to
 * @kind:     how they were found
 * @edges:    strictly ascending by from, then to; offsets up to
 *            PROFILE_EDGE_OFFSET_MAX, counts > 0
 *
 * Costs what profile_writer_add() does. Edges count in no sum of samples.
 *
 * Return: 0; -EINVAL edges not in order or an offset too large, no such kind,
 * no epoch or no transaction open.
 */
int profile_writer_edges(struct profile_writer *writer, int64_t image, int64_t to_image,
			 enum profile_edge_kind kind, const struct profile_edge *edges,
			 size_t count, struct error *err);

/**
 * profile_writer_event_time() - set how long an event of the current epoch was counted
 * @enabled_ns: since the epoch began, as in struct profile_event
 * @running_ns: likewise, at most @enabled_ns
 *
 * Return: 0; -EINVAL no such event, times that cannot be, no epoch or no
 * transaction open.
 */
int profile_writer_event_time(struct profile_writer *writer, uint32_t event, uint64_t enabled_ns,
			      uint64_t running_ns, struct error *err);

/** profile_writer_process() - name a process that has profiles in the current epoch. */
int profile_writer_process(struct profile_writer *writer, int64_t pid, const char *command,
			   struct error *err);

/**
 * profile_writer_totals() - set the current epoch's totals
 * @now_ns:     time of this merge
 * @interrupts: since the epoch began
 * @counters:   replace those of the same group and name
 */
int profile_writer_totals(struct profile_writer *writer, int64_t now_ns, uint64_t interrupts,
			  const struct profile_counter *counters, size_t count, struct error *err);

/**
 * profile_writer_expire() - forget old epochs, in a transaction of its own
 * @before_ns: epochs that ended before this time go; 0: none for their age
 * @bytes_max: then the oldest go until the file's contents fit; 0: any size
 * @deleted:   out: number of epochs deleted
 *
 * Never the current epoch. Images and hosts that no epoch refers to any more
 * go as well: the numbers of images given out before are void, unless the
 * current epoch has samples or edges of them. The file shrinks when the log is next
 * copied back.
 */
int profile_writer_expire(struct profile_writer *writer, int64_t before_ns, uint64_t bytes_max,
			  unsigned int *deleted, struct error *err);

/** profile_writer_epoch_id() - number of the current epoch; 0 if none is open. */
int64_t profile_writer_epoch_id(const struct profile_writer *writer);

#endif
