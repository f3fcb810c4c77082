/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that rewritten programs count in (profile_layout.h), one a process. They may
 * be read while the program runs. What is in them may come from anywhere.
 */
#ifndef DCPI_INSTRUMENT_COUNTS_PROFILE_H
#define DCPI_INSTRUMENT_COUNTS_PROFILE_H

#include "instrument/counts/counts_map.h"

/**
 * struct counts_profile - zero-initialised is empty; freed by counts_profile_deinit()
 * @counters: sums over the threads of all files added, @count of them
 * @files:    that were added
 * @threads:  of these
 * @shared:   threads that had no counters of their own: counts may be too low
 */
struct counts_profile {
	uint64_t image;
	uint64_t *counters;
	size_t count;
	size_t files;
	uint64_t threads;
	uint64_t shared;
};

/**
 * counts_profile_add() - add a file's counts
 * @map: of the image it must be of
 *
 * Return: 0; -EBADMSG it is no such file, or damaged; -ESTALE of another image, or of
 * another rewriting of it; errors of open(2) and read(2).
 */
int counts_profile_add(struct counts_profile *profile, const struct counts_map *map,
		       const char *path, struct error *err);

void counts_profile_deinit(struct counts_profile *profile);

#endif
