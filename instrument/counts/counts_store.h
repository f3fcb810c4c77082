/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a rewritten program counted, into the profile database: an epoch with neither
 * events nor samples, whose source is "dcpix". It is of the image that was rewritten, by
 * its build-id (or, if it has none, the digest of its contents), so that samples of that
 * and the counts meet.
 *
 * Kept are the runs of instructions, the edges whose both ends are known, and which code
 * was watched at all (enum profile_count_kind), as offsets in the file.
 */
#ifndef DCPI_INSTRUMENT_COUNTS_STORE_H
#define DCPI_INSTRUMENT_COUNTS_STORE_H

#include "instrument/counts/counts_profile.h"

struct error;

/**
 * struct counts_store_epoch - where counts go
 * @database: path; made if it is not there
 * @rewritten: path of the program that counted
 * @label:    of the epoch
 * @id:       out: its number
 */
struct counts_store_epoch {
	const char *database;
	const char *rewritten;
	const char *label;
	int64_t id;
};

/**
 * counts_store() - add an epoch with what was counted
 *
 * It begins when the first file that was counted in did, and ends when the last one was
 * written. After a failure there may be an epoch without counts.
 *
 * Return: 1; 0 nothing was counted; -EBADMSG @map is damaged; -ESTALE the original
 * has no build-id, and is not what was rewritten any more; errors of
 * profile_writer_open() and of writing.
 */
int counts_store(struct counts_store_epoch *epoch, const struct counts_map *map,
		 const struct counts_profile *profile, struct error *err);

#endif
