/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times of paths as the profile database keeps them (db/profile_recording.h): with the paths'
 * blocks, so that who reads them needs no graphs.
 */
#ifndef DCPI_INSTRUMENT_VARIATION_RECORDING_H
#define DCPI_INSTRUMENT_VARIATION_RECORDING_H

#include "instrument/paths/paths_recording.h"
#include "instrument/variation/variation_profile.h"

struct variation_listing;

/**
 * variation_recording_make() - what a listing has, as a recording
 * @builder: empty before. Of what it becomes mode and metric are left to the caller
 *
 * All paths of its profile are in it.
 */
void variation_recording_make(struct recording_builder *builder,
			      const struct variation_listing *listing, paths_offset_fn offset_of,
			      const void *context);

/**
 * struct variation_recorded - recordings, added up
 * @paths:   their blocks; its map also has the number of checks
 * @profile: after variation_recorded_end(): a path for each of @paths.profile's sums, in
 *           that order
 * @times:   of paths as they were added
 *
 * Zero-initialised is empty; freed by variation_recorded_deinit().
 */
struct variation_recorded {
	struct paths_recorded paths;
	struct variation_profile profile;
	struct variation_path *times;
	size_t time_count;
	size_t time_capacity;
};

void variation_recorded_deinit(struct variation_recorded *recorded);

/**
 * variation_recorded_add() - add a recording
 * @recording: not trusted
 * @path, @build_id: of the image
 *
 * Return: 0; -EBADMSG damaged; -EINVAL one path was timed for another number of checks;
 * -ENOMEM.
 */
int variation_recorded_add(struct variation_recorded *recorded,
			   const struct profile_recording *recording, const char *path,
			   const char *build_id);

/** variation_recorded_end() - all have been added. Return: 0 or -ENOMEM. */
int variation_recorded_end(struct variation_recorded *recorded);

#endif
