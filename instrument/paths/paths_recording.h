/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths as the profile database stores them (db/profile_recording.h): executed paths with their
 * blocks, so that readers need no graphs.
 */
#ifndef DCPI_INSTRUMENT_PATHS_RECORDING_H
#define DCPI_INSTRUMENT_PATHS_RECORDING_H

#include <stdbool.h>

#include "instrument/paths/paths_profile.h"

struct paths_listing;
struct profile_recording;
struct recording_builder;

/** Convert an address to a file offset. Return: false: it is not in the file. */
typedef bool (*paths_offset_fn)(const void *context, uint64_t address, uint64_t *offset);

/**
 * paths_recording_make() - convert a listing to a recording
 * @builder: empty before. The caller sets mode and metric of the result
 *
 * Code that is in no segment of the file is left out.
 */
void paths_recording_make(struct recording_builder *builder, const struct paths_listing *listing,
			  paths_offset_fn offset_of, const void *context);

/**
 * paths_recording_tables() - add the tables after a head that the caller has added
 *
 * Paths are in the order of the listing's sums.
 */
void paths_recording_tables(struct recording_builder *builder, const struct paths_listing *listing,
			    paths_offset_fn offset_of, const void *context);

/** struct paths_gone - the blocks of an executed path: @steps blocks from index @first on. */
struct paths_gone {
	size_t first;
	size_t steps;
	uint64_t next;
};

/**
 * struct paths_recorded - sums of recordings
 * @map:     path, metric, and addresses, names and numbers of paths of the procedures
 * @profile: as after paths_profile_end(), without words
 * @gone:    for each sum of @profile
 * @steps:   of all paths
 * @procedures: maps an address to an index + 1
 * @places:  after paths_recorded_end(): for each path that was added, the index of its sum
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
 * @path:      path of the image
 *
 * Return: 0; -EBADMSG damaged; -EINVAL another metric than in previous recordings; -ENOMEM.
 */
int paths_recorded_add(struct paths_recorded *recorded, const struct profile_recording *recording,
		       const char *path);

/** paths_recorded_end() - compute sums after all recordings were added. Return: 0 or -ENOMEM. */
int paths_recorded_end(struct paths_recorded *recorded);

#endif
