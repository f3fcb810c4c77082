/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths as the profile database keeps them (db/profile_recording.h): those that were gone,
 * with their blocks, so that who reads them needs no graphs.
 */
#ifndef DCPI_INSTRUMENT_PATHS_RECORDING_H
#define DCPI_INSTRUMENT_PATHS_RECORDING_H

#include <stdbool.h>

#include "instrument/paths/paths_profile.h"

struct paths_listing;
struct profile_recording;
struct recording_builder;

/** Where in the file an address is. Return: false: nowhere. */
typedef bool (*paths_offset_fn)(const void *context, uint64_t address, uint64_t *offset);

/**
 * paths_recording_make() - what a listing has, as a recording
 * @builder: empty before. Of what it becomes mode and metric are left to the caller
 *
 * What is in no segment of the file is left out.
 */
void paths_recording_make(struct recording_builder *builder, const struct paths_listing *listing,
			  paths_offset_fn offset_of, const void *context);

/**
 * paths_recording_tables() - the same behind a head that the caller has put
 *
 * Paths are in the order of the listing's sums.
 */
void paths_recording_tables(struct recording_builder *builder, const struct paths_listing *listing,
			    paths_offset_fn offset_of, const void *context);

/** struct paths_gone - the blocks of a path: @steps of them, from the @first one on. */
struct paths_gone {
	size_t first;
	size_t steps;
	uint64_t next;
};

/**
 * struct paths_recorded - recordings, added up
 * @map:     path, metric, and of procedures addresses, names and numbers of paths
 * @profile: as after paths_profile_end(), without words
 * @gone:    of each of @profile's sums
 * @steps:   of all of them
 * @procedures: address to index + 1
 * @places:  after paths_recorded_end(): of each path that was added, which sum it is in
 *
 * Zero-initialised is empty; freed by paths_recorded_deinit().
 */
struct paths_recorded {
	struct paths_map map;
	struct paths_profile profile;
	struct paths_gone *gone;
	size_t gone_capacity;
	struct counts_node *steps;
	size_t step_count;
	size_t step_capacity;
	size_t loss_capacity;
	struct u64_map procedures;
	size_t *places;
};

void paths_recorded_deinit(struct paths_recorded *recorded);

/**
 * paths_recorded_add() - add a recording
 * @recording: not trusted
 * @path:      of the image
 *
 * Return: 0; -EBADMSG damaged; -EINVAL of another metric than those before; -ENOMEM.
 */
int paths_recorded_add(struct paths_recorded *recorded, const struct profile_recording *recording,
		       const char *path);

/** paths_recorded_end() - all have been added. Return: 0 or -ENOMEM. */
int paths_recorded_end(struct paths_recorded *recorded);

#endif
