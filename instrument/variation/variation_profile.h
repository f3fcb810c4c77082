/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times of the paths of a rewritten program (variation_layout.h), in one file for each process.
 * Data that is read is not trusted.
 */
#ifndef DCPI_INSTRUMENT_VARIATION_PROFILE_H
#define DCPI_INSTRUMENT_VARIATION_PROFILE_H

#include <stdbool.h>

#include "instrument/paths/paths_map.h"
#include "instrument/variation/variation_layout.h"
#include "lib/u64_map.h"

/**
 * struct variation_path - a path that was timed
 * @procedure: index in the map
 * @number:    number of the path, less than the procedure's count
 * @count, @total, @least: see variation_layout.h; @total is at least @count times @least
 */
struct variation_path {
	uint32_t procedure;
	uint32_t number;
	uint64_t count;
	uint64_t total;
	uint64_t least;
	uint64_t interrupted;
	uint64_t interrupted_total;
	uint64_t buckets[VARIATION_BUCKETS];
};

/**
 * struct variation_profile - zero-initialised is empty; freed by variation_profile_deinit()
 * @paths:   in no particular order
 * @damaged: impossible paths, left out; while a program runs there may be some
 * @files:   number of files added
 * @threads: number of threads in these files
 * @shared:  threads without a separate block: paths may be missing
 */
struct variation_profile {
	struct variation_path *paths;
	size_t count;
	size_t capacity;
	struct u64_map places; /* by key, + 1 */
	uint64_t lost;
	uint64_t overflow;
	uint64_t damaged;
	size_t files;
	uint64_t threads;
	uint64_t shared;
};

/** variation_path_is_possible() - return true if its times are consistent */
bool variation_path_is_possible(const struct variation_path *path);

/** variation_path_add() - add other times of the same path. */
void variation_path_add(struct variation_path *path, const struct variation_path *other);

/** variation_profile_add() - add a file. Return: errors of profile_file_open(), -ENOMEM. */
int variation_profile_add(struct variation_profile *profile, const struct paths_map *map,
			  const char *path, struct error *err);

void variation_profile_deinit(struct variation_profile *profile);

#endif
