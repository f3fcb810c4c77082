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
 *	    profile_writer_image(), _symbols(), _add(), _edges(), _counts(), _recording(),
 *	    _process(), _label(), _share(), _event_time(), _totals() ...
 *	  profile_writer_commit()
 *	profile_writer_epoch_end()
 *	profile_writer_close()
 *
 * Errors beside those named: -EBUSY another program has locked it, -ENOSPC disk full
 * (or quota, or file size limit), -EIO, -ENOMEM, -EACCES, -EROFS, -EBADMSG the database
 * is corrupt, -EOVERFLOW a count, sum or period over INT64_MAX, -EINVAL a call out of
 * place or an unknown image or event. After a failure inside a transaction the caller
 * rolls back (profile_writer_settle()) and may try the whole merge again later; the
 * numbers of images that the transaction had added are void then.
 *
 * Beside the database PATH stand PATH-lock, which stays, and while it is in
 * use PATH-wal and PATH-shm.
 */
#ifndef DCPI_PROFILE_WRITE_H
#define DCPI_PROFILE_WRITE_H

#include <stdbool.h>

#include "db/profile.h"
#include "db/profile_recording.h"

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

/**
 * profile_writer_reserve() - hold disk space for an epoch's last totals, 256 KiB
 *
 * profile_writer_release() frees the space when the disk is full, so that the totals of lost
 * samples can still be stored. Does nothing while space is held.
 *
 * Return: whether space is held; false if the disk is full, or the folder cannot be written.
 */
bool profile_writer_reserve(struct profile_writer *writer);
void profile_writer_release(struct profile_writer *writer);

/**
 * profile_writer_wait() - how long to wait for a database that another program has locked
 *
 * Then a call that writes fails with -EBUSY. Five seconds unless told otherwise.
 */
void profile_writer_wait(struct profile_writer *writer, int milliseconds);

/** profile_writer_close() - roll back what is open, check-point, unlock, free. NULL is fine. */
void profile_writer_close(struct profile_writer *writer);

/**
 * profile_writer_epoch_begin() - start an epoch, in a transaction of its own
 * @epoch:  all fields but id, end_ns, open and interrupts
 * @events: its events; their times are not looked at
 *
 * An epoch still open ends when this one begins.
 */
int profile_writer_epoch_begin(struct profile_writer *writer, const struct profile_epoch *epoch,
			       const struct profile_event *events, size_t event_count,
			       struct error *err);

/** profile_writer_epoch_next() - the same; an epoch still open ends at @end_ns */
int profile_writer_epoch_next(struct profile_writer *writer, int64_t end_ns,
			      const struct profile_epoch *epoch, const struct profile_event *events,
			      size_t event_count, struct error *err);

/** profile_writer_epoch_end() - close the epoch, in a transaction of its own. */
int profile_writer_epoch_end(struct profile_writer *writer, int64_t end_ns, struct error *err);

/**
 * profile_writer_epoch_drop() - take the current epoch back, in a transaction of its own
 *
 * With all that is in it: as profile_writer_expire(), at once.
 */
int profile_writer_epoch_drop(struct profile_writer *writer, struct error *err);

/*
 * Who has all of an epoch at hand writes it in one transaction, and leaves nothing of it if
 * that fails: begin, add, the epoch's rows, finish, settle, forget.
 */

/** profile_writer_epoch_add() - add an epoch without events and make it the current one. */
int profile_writer_epoch_add(struct profile_writer *writer, const struct profile_epoch *epoch,
			     struct error *err);

/** profile_writer_event_add() - add an event, without its times, to the current epoch. */
int profile_writer_event_add(struct profile_writer *writer, const struct profile_event *event,
			     struct error *err);

/** profile_writer_epoch_finish() - mark the current epoch as ended. */
int profile_writer_epoch_finish(struct profile_writer *writer, int64_t end_ns, struct error *err);

/** profile_writer_epoch_forget() - there is no current epoch any more. */
void profile_writer_epoch_forget(struct profile_writer *writer);

/**
 * profile_writer_begin() - start a transaction
 *
 * Return: 0; -ESTALE the path leads to another file than the open one: see profile_place.h;
 * others as above.
 */
int profile_writer_begin(struct profile_writer *writer, struct error *err);

/** profile_writer_commit() - make the transaction durable. */
int profile_writer_commit(struct profile_writer *writer, struct error *err);

/** profile_writer_rollback() - drop the transaction; without one, nothing. */
void profile_writer_rollback(struct profile_writer *writer);

/**
 * profile_writer_settle() - end the transaction as its work went
 * @r: of the work: negative, it failed and said why: roll back; else commit, and roll back if
 *     that fails
 *
 * Return: @r if it is negative; else 0 or what commit failed with. No transaction is open then.
 */
int profile_writer_settle(struct profile_writer *writer, int r, struct error *err);

/**
 * profile_writer_image() - find an image by identity, or add it
 * @id: out: its number in this database
 *
 * The path of a known image is updated. Those without identity are the host's of the
 * current epoch, but for PROFILE_IMAGE_UNKNOWN.
 */
int profile_writer_image(struct profile_writer *writer, const struct profile_image *image,
			 int64_t *id, struct error *err);

/**
 * profile_writer_symbols() - keep an image's symbols, replacing those kept
 * @symbols: sorted by offset
 */
int profile_writer_symbols(struct profile_writer *writer, int64_t image,
			   const struct profile_symbol *symbols, size_t count, struct error *err);

/* Of an image whose symbols and code become known bit by bit: no more than that is kept. */
#define PROFILE_CODE_SYMBOLS_MAX 65536
#define PROFILE_CODE_BYTES_MAX (8 << 20)

/**
 * profile_writer_symbols_add() - add to an image's symbols
 * @symbols: sorted by offset
 *
 * One that is kept already stays as it is, and so it does beyond
 * PROFILE_CODE_SYMBOLS_MAX. Linear in what is kept, unless all of it is.
 */
int profile_writer_symbols_add(struct profile_writer *writer, int64_t image,
			       const struct profile_symbol *symbols, size_t count,
			       struct error *err);

/**
 * profile_writer_code() - add to an image's code
 *
 * What is kept already at an offset stays; so it does beyond PROFILE_CODE_BYTES_MAX (packed).
 */
int profile_writer_code(struct profile_writer *writer, int64_t image,
			const struct profile_code *code, size_t count, struct error *err);

/** profile_writer_has_symbols() - whether some are kept. */
bool profile_writer_has_symbols(struct profile_writer *writer, int64_t image);

/**
 * profile_writer_add() - add samples to a profile of the current epoch
 * @image:   number of the image
 * @event:   number of the event in the epoch
 * @pid:     process, PROFILE_PID_ALL, or PROFILE_PID_OF_LABEL()
 * @samples: strictly ascending offsets, counts > 0
 *
 * The stored profile is read, merged and written anew: time and log space are
 * linear in what is stored, not only in what is added (some 50 ns and a byte
 * or two an offset, make bench). A caller with few samples for a large profile
 * had better gather more of them first. What is stored and cannot be read, on a
 * disk that forgets, is lost: it moves to the epoch's loss "damaged" (edges: to its
 * stat "edges_damaged"), and what is added begins a new profile.
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
 * profile_writer_counts() - add exact counts of executions to those of the current epoch
 * @image:  number of the image
 * @kind:   what they are counts of
 * @counts: as profile_writer_edges() takes edges
 *
 * Costs what profile_writer_add() does. Counts are in no sum of samples or edges.
 *
 * Return: 0; -EINVAL counts not in order or an offset too large, no such kind, no epoch
 * or no transaction open.
 */
int profile_writer_counts(struct profile_writer *writer, int64_t image,
			  enum profile_count_kind kind, const struct profile_edge *counts,
			  size_t count, struct error *err);

/**
 * profile_writer_recording() - add what was recorded of an image in the current epoch
 * @recording: its epoch and image are not looked at
 *
 * Return: 0; -EEXIST the epoch has one of this image and mode; -EINVAL no such mode, too
 * many tables or columns, no epoch or no transaction open.
 */
int profile_writer_recording(struct profile_writer *writer, int64_t image,
			     const struct profile_recording *recording, struct error *err);

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

/**
 * profile_writer_label() - say what a label of the current epoch stands for
 *
 * Before the first share with its number; again at any time.
 */
int profile_writer_label(struct profile_writer *writer, const struct profile_label *label,
			 struct error *err);

/**
 * profile_writer_share() - add to the samples of an image and event that are a label's
 *
 * Of each image and event, shares add up to no more than the samples that
 * profile_writer_add() is given.
 *
 * Return: 0; -EINVAL no such label, no epoch or no transaction open.
 */
int profile_writer_share(struct profile_writer *writer, int64_t image, uint32_t event,
			 uint32_t label, uint64_t samples, struct error *err);

/** profile_writer_process() - name a process that has profiles in the current epoch. */
int profile_writer_process(struct profile_writer *writer, const struct profile_process *process,
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
 * struct profile_limits - what a database may hold
 * @before_ns: epochs that ended before this time go; 0: none for their age
 * @bytes_max: of the file; beyond it the oldest epochs go; 0: any size
 */
struct profile_limits {
	int64_t before_ns;
	uint64_t bytes_max;
};

/**
 * struct profile_expired - what a step has done
 * @epochs:     that have gone for good: 0 or 1
 * @samples:    deleted
 * @used_bytes: of the file that hold something, @file_bytes: all; before the step, or
 *              after it if it shrank the file
 * @full:       the file held more than it may: that is why
 * @stuck:      likewise, but there is no epoch that has ended
 */
struct profile_expired {
	unsigned int epochs;
	uint64_t samples;
	uint64_t used_bytes;
	uint64_t file_bytes;
	bool full;
	bool stuck;
};

/**
 * profile_writer_expire() - forget a little of what is too old, or too much
 * @expired: out
 *
 * The oldest epoch goes first, never the current one, some 256 KiB of it at a
 * time, in a small transaction of its own: between steps there is time for
 * merges. Samples that have gone from an epoch that is still there are its loss
 * "expired" (edges: its stat "edges_expired"), so that it adds up all the time.
 * When nothing is left to forget, steps give room back to the file system, up
 * to a sixteenth of the file.
 *
 * Images and hosts that no epoch refers to any more go as well: after each step
 * the numbers of images given out before are void, unless the current epoch
 * has samples or edges of them. No step costs more if the file is larger.
 *
 * Return: 1: there may be more to do; 0: there is not; or negative errno.
 */
int profile_writer_expire(struct profile_writer *writer, const struct profile_limits *limits,
			  struct profile_expired *expired, struct error *err);

/** profile_writer_damaged() - samples found damaged and lost since the writer was opened. */
uint64_t profile_writer_damaged(const struct profile_writer *writer);

/** profile_writer_epoch_id() - number of the current epoch; 0 if none is open. */
int64_t profile_writer_epoch_id(const struct profile_writer *writer);

#endif
