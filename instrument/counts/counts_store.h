/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Store the counts of a rewritten program in the profile database (epoch_store.h).
 *
 * The stored data are runs of instructions, edges with two known ends, and the ranges of
 * watched code (enum profile_count_kind), as offsets in the file.
 */
#ifndef DCPI_INSTRUMENT_COUNTS_STORE_H
#define DCPI_INSTRUMENT_COUNTS_STORE_H

#include "instrument/counts/counts_profile.h"
#include "instrument/profile/epoch_store.h"

/**
 * counts_store() - add an epoch with the counts
 * @epoch: open
 *
 * Return: 1; 0 nothing was counted; -EBADMSG @map is damaged; errors of epoch_store_write().
 */
int counts_store(struct epoch_store *epoch, const struct counts_map *map,
		 const struct counts_profile *profile, struct error *err);

#endif
