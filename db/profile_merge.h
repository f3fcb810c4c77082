/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merging profile databases: those of other hosts, copies, older epochs.
 *
 * Whole epochs are copied, one transaction each: after an interruption the
 * target has some of the source's epochs, complete, and merging again adds the
 * others. All rows get new numbers, and blobs are written anew under them.
 *
 * An epoch is recognised by host name, machine id, start and source: the start
 * is a clock's nanosecond, and one host begins no two epochs in it with one
 * source. The end and the counts are not part of the key, since of a copy made
 * during an epoch they may be less: the same samples would come in twice.
 *
 * Images are matched as the daemon matches them: by kind and identity, those
 * without identity by kind, path and host. Paths and symbols that the target has
 * stay. Images that are in no epoch merged are left out.
 */
#ifndef DCPI_PROFILE_MERGE_H
#define DCPI_PROFILE_MERGE_H

#include <stddef.h>

#include "db/profile.h"

struct error;
struct profile_reader;
struct profile_writer;

/** enum profile_merge_result - what became of an epoch. */
enum profile_merge_result {
	PROFILE_MERGE_DONE,
	PROFILE_MERGE_KNOWN,   /* the target has it */
	PROFILE_MERGE_DIFFERS, /* the target has it, with another end or other interrupts */
	PROFILE_MERGE_OPEN,    /* left out: more may come */
	PROFILE_MERGE_RESULTS,
};

/** struct profile_merge_counts - epochs by result, and images added to the target. */
struct profile_merge_counts {
	size_t epochs[PROFILE_MERGE_RESULTS];
	size_t images;
};

/** Called for each epoch of the source, after its transaction. */
typedef void (*profile_merge_fn)(void *context, const struct profile_epoch *epoch,
				 enum profile_merge_result result);

/**
 * profile_merge() - add a database's epochs to another
 * @writer: target; no epoch and no transaction open
 * @reader: source; read as of one state, as after profile_reader_snapshot()
 * @visit:  or NULL
 * @counts: added to, on failure too
 *
 * Memory: one profile, or one image's symbols. Time: that of reading the source
 * and of writing as much.
 *
 * Return: 0; -EINVAL source and target are one file, or the writer is busy;
 * -EBADMSG the source is damaged, which an epoch is too whose interrupts are not
 * its samples and losses: nothing of that epoch is merged, and none after it; or
 * an error of db/profile_read.h or db/profile_write.h.
 */
int profile_merge(struct profile_writer *writer, struct profile_reader *reader,
		  profile_merge_fn visit, void *context, struct profile_merge_counts *counts,
		  struct error *err);

#endif
