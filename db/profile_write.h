/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write a profile database, for the daemon.
 *
 * A database has at most one writer; readers can access it at the same time (WAL). All changes are
 * made in a transaction, which holds one merge: after a crash the file is as it was after the last
 * commit.
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
 * Errors besides those named:
 * - -EBUSY: another program has locked the database
 * - -ENOSPC: the disk is full (or quota, or file size limit)
 * - -EBADMSG: the database is corrupt
 * - -EOVERFLOW: a count, sum or period exceeds INT64_MAX
 * - -EINVAL: a call in the wrong state, or an unknown image or event
 * - -EIO, -ENOMEM, -EACCES, -EROFS
 *
 * After a failure inside a transaction the caller rolls back (profile_writer_settle()) and may try
 * the whole merge again later. The numbers of images that the transaction had added are void then.
 *
 * The file PATH-lock next to the database PATH is permanent. PATH-wal and PATH-shm exist while the
 * database is in use.
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
 * Directories are not created. An older schema is migrated; epochs that an earlier writer left open
 * are closed.
 *
 * Return: 0; -EBUSY the database has another writer; -EMEDIUMTYPE the file is not a profile
 * database; -EISDIR; -ENOENT no such directory; -EPROTO the database was made by a newer version;
 * others as above.
 */
int profile_writer_open(struct profile_writer **ret, const char *path, struct error *err);

/**
 * profile_writer_reserve() - hold disk space for an epoch's last totals, 256 KiB
 *
 * profile_writer_release() frees the space when the disk is full, so that the totals of lost
 * samples can still be stored. Does nothing while space is held.
 *
 * Return: true if space is held; false if the disk is full, or the folder is not writable.
 */
bool profile_writer_reserve(struct profile_writer *writer);
void profile_writer_release(struct profile_writer *writer);

/**
 * profile_writer_wait() - set how long to wait for a database that another program has locked
 *
 * After that time, a call that writes fails with -EBUSY. The default is five seconds.
 */
void profile_writer_wait(struct profile_writer *writer, int milliseconds);

/**
 * profile_writer_close() - roll back an open transaction, checkpoint, unlock, free. NULL is fine.
 */
void profile_writer_close(struct profile_writer *writer);

/**
 * profile_writer_epoch_begin() - start an epoch, in a separate transaction
 * @epoch:  all fields except id, end_ns, open and interrupts
 * @events: its events; their times are ignored
 *
 * An epoch still open ends when this one begins.
 */
int profile_writer_epoch_begin(struct profile_writer *writer, const struct profile_epoch *epoch,
			       const struct profile_event *events, size_t event_count,
			       struct error *err);

/** profile_writer_epoch_next() - start an epoch; an epoch still open ends at @end_ns */
int profile_writer_epoch_next(struct profile_writer *writer, int64_t end_ns,
			      const struct profile_epoch *epoch, const struct profile_event *events,
			      size_t event_count, struct error *err);

/** profile_writer_epoch_end() - close the epoch, in a separate transaction. */
int profile_writer_epoch_end(struct profile_writer *writer, int64_t end_ns, struct error *err);

/**
 * profile_writer_epoch_drop() - delete the current epoch, in a separate transaction
 *
 * Deletes all its contents, too: as profile_writer_expire(), but at once.
 */
int profile_writer_epoch_drop(struct profile_writer *writer, struct error *err);

/*
 * A caller that has a complete epoch writes it in one transaction, so that nothing of it is left if
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

/** profile_writer_epoch_forget() - leave no epoch current */
void profile_writer_epoch_forget(struct profile_writer *writer);

/**
 * profile_writer_begin() - start a transaction
 *
 * Return: 0; -ESTALE the path no longer leads to the open file: see profile_place.h;
 * others as above.
 */
int profile_writer_begin(struct profile_writer *writer, struct error *err);

/** profile_writer_commit() - make the transaction durable. */
int profile_writer_commit(struct profile_writer *writer, struct error *err);

/** profile_writer_rollback() - roll back the transaction; without one, do nothing */
void profile_writer_rollback(struct profile_writer *writer);

/**
 * profile_writer_settle() - commit or roll back the transaction, depending on a result
 * @r: result of the work in the transaction: if negative, @err is set: roll back; otherwise commit,
 *     and roll back if that fails
 *
 * Return: @r if it is negative; else 0 or the error of the commit. No transaction is open
 * afterwards.
 */
int profile_writer_settle(struct profile_writer *writer, int r, struct error *err);

/**
 * profile_writer_image() - find an image by identity, or add it
 * @id: out: its number in this database
 *
 * The path of a known image is updated. Images without identity belong to the host of the current
 * epoch, except PROFILE_IMAGE_UNKNOWN.
 */
int profile_writer_image(struct profile_writer *writer, const struct profile_image *image,
			 int64_t *id, struct error *err);

/**
 * profile_writer_symbols() - store an image's symbols, replacing stored ones
 * @symbols: sorted by offset
 */
int profile_writer_symbols(struct profile_writer *writer, int64_t image,
			   const struct profile_symbol *symbols, size_t count, struct error *err);

/* Limits for images whose symbols and code become known gradually: no more is stored. */
#define PROFILE_CODE_SYMBOLS_MAX 65536
#define PROFILE_CODE_NAMES_MAX (8 << 20)
#define PROFILE_CODE_BYTES_MAX (8 << 20)

/**
 * profile_writer_symbols_add() - add to an image's symbols
 * @symbols: sorted by offset
 *
 * Symbols that are already stored are not changed. Symbols beyond PROFILE_CODE_SYMBOLS_MAX, or with
 * more than PROFILE_CODE_NAMES_MAX bytes of names, are dropped. Linear in the number of stored
 * symbols, even if nothing is added.
 */
int profile_writer_symbols_add(struct profile_writer *writer, int64_t image,
			       const struct profile_symbol *symbols, size_t count,
			       struct error *err);

/**
 * profile_writer_code() - add to an image's code
 *
 * Code that is already stored at an offset is not changed. Code beyond PROFILE_CODE_BYTES_MAX
 * (compressed) is dropped.
 */
int profile_writer_code(struct profile_writer *writer, int64_t image,
			const struct profile_code *code, size_t count, struct error *err);

/**
 * profile_writer_code_set() - like profile_writer_code(), but replace code that is already stored
 * at an offset
 */
int profile_writer_code_set(struct profile_writer *writer, int64_t image,
			    const struct profile_code *code, size_t count, struct error *err);

/** profile_writer_has_symbols() - return true if symbols are stored */
bool profile_writer_has_symbols(struct profile_writer *writer, int64_t image);

/**
 * profile_writer_add() - add samples to a profile of the current epoch
 * @image:   number of the image
 * @event:   number of the event in the epoch
 * @pid:     process, PROFILE_PID_ALL, or PROFILE_PID_OF_LABEL()
 * @samples: strictly ascending offsets, counts > 0
 *
 * The stored profile is read, merged and rewritten. So time and log space are linear in the stored
 * data, not only in the added data (some 50 ns and one to two bytes per offset, see make bench). A
 * caller with few samples for a large profile should gather more of them first. Stored data that
 * cannot be read because of a disk error is lost. It is counted as the epoch's loss "damaged"
 * (edges: its stat "edges_damaged"), and the added samples begin a new profile.
 *
 * Return: 0; -EINVAL samples not in order, no epoch or no transaction open.
 */
int profile_writer_add(struct profile_writer *writer, int64_t image, uint32_t event, int64_t pid,
		       const struct profile_sample *samples, size_t count, struct error *err);

/**
 * profile_writer_edges() - add edges to those of the current epoch
 * @image:    number of the source image
 * @to_image: number of the target image
 * @kind:     how the edges were found
 * @edges:    strictly ascending by from, then to; offsets up to
 *            PROFILE_EDGE_OFFSET_MAX, counts > 0
 *
 * Costs as much as profile_writer_add(). Edges are included in no sum of samples.
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
 * @kind:   kind of the counts
 * @counts: as for profile_writer_edges()
 *
 * Costs as much as profile_writer_add(). Counts are included in no sum of samples or edges.
 *
 * Return: 0; -EINVAL counts not in order or an offset too large, no such kind, no epoch
 * or no transaction open.
 */
int profile_writer_counts(struct profile_writer *writer, int64_t image,
			  enum profile_count_kind kind, const struct profile_edge *counts,
			  size_t count, struct error *err);

/**
 * profile_writer_recording() - add a recording of an image in the current epoch
 * @recording: its epoch and image are ignored
 *
 * Return: 0; -EEXIST the epoch has one of this image and mode; -EINVAL no such mode, too many
 * tables or columns, no epoch or no transaction open.
 */
int profile_writer_recording(struct profile_writer *writer, int64_t image,
			     const struct profile_recording *recording, struct error *err);

/**
 * profile_writer_recording_set() - like profile_writer_recording(), but replace the recording that
 * the epoch has
 *
 * Return: as profile_writer_recording(), without -EEXIST.
 */
int profile_writer_recording_set(struct profile_writer *writer, int64_t image,
				 const struct profile_recording *recording, struct error *err);

/**
 * profile_writer_recordings_clear() - delete the recordings of a mode from the current epoch
 *
 * Return: 0; -EINVAL no epoch or no transaction open; -errno of the database.
 */
int profile_writer_recordings_clear(struct profile_writer *writer, enum profile_recording_mode mode,
				    struct error *err);

/**
 * profile_writer_event_time() - set how long an event of the current epoch was counted
 * @enabled_ns: since the epoch began, as in struct profile_event
 * @running_ns: as in struct profile_event, at most @enabled_ns
 *
 * Return: 0; -EINVAL no such event, impossible times, no epoch or no
 * transaction open.
 */
int profile_writer_event_time(struct profile_writer *writer, uint32_t event, uint64_t enabled_ns,
			      uint64_t running_ns, struct error *err);

/**
 * profile_writer_label() - define a label of the current epoch
 *
 * Must be called before the first share with its number; may be called again at any time.
 */
int profile_writer_label(struct profile_writer *writer, const struct profile_label *label,
			 struct error *err);

/**
 * profile_writer_share() - add to the samples of an image and event that belong to a label
 *
 * For each image and event, shares add up to no more than the samples that profile_writer_add() is
 * given.
 *
 * Return: 0; -EINVAL no such label, no epoch or no transaction open.
 */
int profile_writer_share(struct profile_writer *writer, int64_t image, uint32_t event,
			 uint32_t label, uint64_t samples, struct error *err);

/*
 * Slices. A caller that stores slices stores all samples of the epoch in one, in addition to
 * profile_writer_add() and profile_writer_share().
 */

/**
 * profile_writer_slice() - find the slice of the current epoch that begins at a time, or add it
 * @id: out: its number, valid until it is merged with others
 */
int profile_writer_slice(struct profile_writer *writer, int64_t start_ns, int64_t *id,
			 struct error *err);

/** profile_writer_slice_add() - as profile_writer_add(), to a slice */
int profile_writer_slice_add(struct profile_writer *writer, int64_t slice, int64_t image,
			     uint32_t event, int64_t pid, const struct profile_sample *samples,
			     size_t count, struct error *err);

/** profile_writer_slice_share() - as profile_writer_share(), to a slice */
int profile_writer_slice_share(struct profile_writer *writer, int64_t slice, int64_t image,
			       uint32_t event, uint32_t label, uint64_t samples, struct error *err);

/** profile_writer_slice_count() - add to a counter of a slice */
int profile_writer_slice_count(struct profile_writer *writer, int64_t slice, const char *group,
			       const char *name, uint64_t count, struct error *err);

/**
 * profile_writer_slice_set() - set the end and the totals of a slice, after its samples are added
 * @start_ns in @slice is ignored
 * @counters: replace those of the same group and name
 */
int profile_writer_slice_set(struct profile_writer *writer, int64_t id,
			     const struct profile_slice *slice,
			     const struct profile_counter *counters, size_t count,
			     struct error *err);

/* Lengths that slices are merged to: a minute, an hour, a day. */
#define PROFILE_SLICE_LENGTHS 3

/**
 * struct profile_slice_limits - which slices to merge into longer ones
 * @now_ns:    current time
 * @before_ns: only slices that end at this time or before
 * @age_ns:    for each length: slices of minutes, hours or days that ended longer ago are merged to
 *             one; 0: none
 * @percent:   maximum size of the slices of all epochs, in percent of the rest of the database, but
 *             @bytes_min at least. 0: any size. Beyond it, slices are merged before their age
 *             requires it, at last all slices of an epoch
 */
struct profile_slice_limits {
	int64_t now_ns;
	int64_t before_ns;
	int64_t age_ns[PROFILE_SLICE_LENGTHS];
	uint64_t percent;
	uint64_t bytes_min;
};

/**
 * profile_writer_slices_merge() - merge a few adjacent slices into one
 *
 * A merged slice has the sums of all samples and counters of its parts, and lies within one minute,
 * hour or day (UTC). It is a small separate transaction: some 256 KiB, and one slice more.
 *
 * Return: 1: slices were merged, there may be more to do; 0: no slices are to be merged; or
 * negative errno.
 */
int profile_writer_slices_merge(struct profile_writer *writer,
				const struct profile_slice_limits *limits, struct error *err);

/** profile_writer_process() - set the name of a process that has profiles in the current epoch. */
int profile_writer_process(struct profile_writer *writer, const struct profile_process *process,
			   struct error *err);

/**
 * profile_writer_totals() - set the current epoch's totals
 * @now_ns:     time of this merge
 * @interrupts: number since the epoch began
 * @counters:   counters to set; they replace those of the same group and name
 */
int profile_writer_totals(struct profile_writer *writer, int64_t now_ns, uint64_t interrupts,
			  const struct profile_counter *counters, size_t count, struct error *err);

/**
 * struct profile_limits - limits of a database's contents
 * @before_ns: delete epochs that ended before this time; 0: none because of their age
 * @bytes_max: size of the file beyond which the oldest epochs are deleted; 0: any size
 */
struct profile_limits {
	int64_t before_ns;
	uint64_t bytes_max;
};

/**
 * struct profile_expired - result of a step
 * @epochs:     epochs deleted completely: 0 or 1
 * @samples:    samples deleted
 * @used_bytes: bytes of the file in use, @file_bytes: size of the file; before the step, or
 *              after it if it shrank the file
 * @full:       true if the step deleted data because the file exceeded its limit
 * @stuck:      true if the file exceeds its limit, but no epoch has ended
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
 * profile_writer_expire() - delete a small part of old or excess data
 * @expired: out
 *
 * Deletes the oldest epoch first, never the current one, some 256 KiB at a time, in a small
 * separate transaction: between steps there is time for merges. Samples deleted from an epoch that
 * still exists are counted as its loss "expired" (edges: its stat "edges_expired"), so that the
 * epoch's sums stay correct. If no old data is left, steps return free space to the file system, up
 * to a sixteenth of the file.
 *
 * Images and hosts that no epoch refers to are deleted as well: after each step the
 * numbers of images returned before are void, unless the current epoch has samples or edges of
 * them. The cost of a step does not depend on the size of the file.
 *
 * Return: 1: there may be more to do; 0: there is not; or negative errno.
 */
int profile_writer_expire(struct profile_writer *writer, const struct profile_limits *limits,
			  struct profile_expired *expired, struct error *err);

/** profile_writer_damaged() - return the samples lost to damage since the writer was opened. */
uint64_t profile_writer_damaged(const struct profile_writer *writer);

/** profile_writer_epoch_id() - return the number of the current epoch; 0 if none is open. */
int64_t profile_writer_epoch_id(const struct profile_writer *writer);

#endif
