/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files in which rewritten programs count (profile_layout.h), one per process. They may be read
 * while the program runs. Their contents are not trusted.
 */
#ifndef DCPI_INSTRUMENT_COUNTS_PROFILE_H
#define DCPI_INSTRUMENT_COUNTS_PROFILE_H

#include "instrument/counts/counts_map.h"

/**
 * struct counts_profile - zero-initialised is empty; freed by counts_profile_deinit()
 * @counters: sums over the threads of all files added, @count of them
 * @files:    number of files added
 * @threads:  number of threads in these files
 * @shared:   threads without separate counters: counts may be too low
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
 * @map: map of the image that the file must belong to
 *
 * Return: 0; -EBADMSG not such a file, or damaged; -ESTALE from another image, or another rewriting
 * of it; errors of open(2) and read(2).
 */
int counts_profile_add(struct counts_profile *profile, const struct counts_map *map,
		       const char *path, struct error *err);

void counts_profile_deinit(struct counts_profile *profile);

#endif
