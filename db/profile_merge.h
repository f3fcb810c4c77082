/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merging profile databases: those of other hosts, copies, older epochs.
 *
 * Whole epochs are copied, one transaction each: after an interruption the target has some of the
 * source's epochs, complete, and another merge adds the others. All rows get new numbers, and blobs
 * are rewritten with them.
 *
 * An epoch is identified by host name, machine id, start and source: the start has nanosecond
 * resolution, and one host starts no two epochs at the same time with one source. The end and the
 * counts are not part of the key, since they may be less in a copy made during an epoch: the same
 * samples would be merged twice.
 *
 * Images are matched as the daemon matches them: by kind and identity; images without identity by
 * kind, path and host. The target's paths and symbols are kept. Images that are in no merged epoch
 * are left out.
 */
#ifndef DCPI_PROFILE_MERGE_H
#define DCPI_PROFILE_MERGE_H

#include <stddef.h>

#include "db/profile.h"

struct error;
struct profile_reader;
struct profile_writer;

/** enum profile_merge_result - result for an epoch */
enum profile_merge_result {
	PROFILE_MERGE_DONE,
	PROFILE_MERGE_KNOWN,   /* the target has the epoch */
	PROFILE_MERGE_DIFFERS, /* the target has the epoch, with another end or other interrupts */
	PROFILE_MERGE_OPEN,    /* left out: samples may still be added */
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
 * Memory: one profile, or one image's symbols. Time: to read the source and to write the same
 * amount.
 *
 * An epoch whose interrupts are not the sum of its samples and losses counts as damaged. Neither a
 * damaged epoch nor any after it is merged.
 *
 * Return: 0, or
 * - -EINVAL: source and target are one file, or the writer is busy;
 * - -EBADMSG: the source is damaged;
 * - an error of db/profile_read.h or db/profile_write.h.
 */
int profile_merge(struct profile_writer *writer, struct profile_reader *reader,
		  profile_merge_fn visit, void *context, struct profile_merge_counts *counts,
		  struct error *err);

#endif
