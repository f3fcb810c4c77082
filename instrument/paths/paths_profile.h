/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings of programs that were rewritten to count paths, in one file for each process
 * (profile_file.h). Their contents are not trusted.
 */
#ifndef DCPI_INSTRUMENT_PATHS_PROFILE_H
#define DCPI_INSTRUMENT_PATHS_PROFILE_H

#include "instrument/paths/paths_cost.h"
#include "instrument/paths/paths_map.h"
#include "lib/u64_map.h"

/**
 * struct paths_sum - an executed path
 * @procedure: index in the map
 * @number:    number of the path
 * @metric:    sum over its measured executions
 * @timed:     number of measured executions
 * @context:   number of the context in which it was executed; 0: in any
 */
struct paths_sum {
	uint32_t procedure;
	uint32_t number;
	uint64_t count;
	uint64_t metric;
	uint64_t timed;
	uint32_t context;
};

/**
 * struct paths_loss - for a procedure: paths that began but are not among the sums
 * @unfinished: the procedure was left differently (exit, longjmp, an exception), or is still
 *              running
 * @lost:       their number was lost: they may have been any paths
 * @overflow:   the table had no room for them
 */
struct paths_loss {
	uint64_t unfinished;
	uint64_t lost;
	uint64_t overflow;
};

/**
 * struct paths_profile - zero-initialised is empty; freed by paths_profile_deinit()
 * @words:   sums over the threads of all files added
 * @sums:    set by paths_profile_end(): by procedure, then by number
 * @losses:  set by paths_profile_end(), for each procedure
 * @files:   number of files added
 * @threads: number of threads in these files
 * @shared:  threads without a separate block: counts may be too low
 */
struct paths_profile {
	uint64_t *words;
	struct u64_map counts; /* of the tables */
	struct u64_map metrics;
	struct paths_cost cost;
	struct paths_sum *sums;
	size_t sum_count;
	size_t sum_capacity;
	struct paths_loss *losses;
	size_t files;
	uint64_t threads;
	uint64_t shared;
};

/** paths_profile_add() - add a file. Return: errors of profile_file_open(), and -ENOMEM. */
int paths_profile_add(struct paths_profile *profile, const struct paths_map *map, const char *path,
		      struct error *err);

/** paths_profile_sum() - add an executed path to the sums. Return: 0 or -ENOMEM. */
int paths_profile_sum(struct paths_profile *profile, struct paths_sum sum);

/** paths_profile_end() - compute sums and losses of all files. Return: 0 or -ENOMEM. */
int paths_profile_end(struct paths_profile *profile, const struct paths_map *map);

void paths_profile_deinit(struct paths_profile *profile);

#endif
