/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times of paths as the profile database stores them (db/profile_recording.h): with the paths'
 * blocks, so that readers need no graphs.
 */
#ifndef DCPI_INSTRUMENT_VARIATION_RECORDING_H
#define DCPI_INSTRUMENT_VARIATION_RECORDING_H

#include "instrument/paths/paths_recording.h"
#include "instrument/variation/variation_profile.h"

struct variation_listing;

/**
 * variation_recording_make() - convert a listing to a recording
 * @builder: empty before. The caller sets mode and metric of the result
 *
 * The recording includes all paths of the listing's profile.
 */
void variation_recording_make(struct recording_builder *builder,
			      const struct variation_listing *listing, paths_offset_fn offset_of,
			      const void *context);

/**
 * struct variation_recorded - sums of recordings
 * @paths:   their blocks; its map also has the number of checks
 * @profile: after variation_recorded_end(): a path for each sum in @paths.profile, in that order
 * @times:   of paths, in the order of addition
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
 * Return: 0; -EBADMSG damaged; -EINVAL the number of checks between timed paths differs; -ENOMEM.
 */
int variation_recorded_add(struct variation_recorded *recorded,
			   const struct profile_recording *recording, const char *path,
			   const char *build_id);

/** variation_recorded_end() - finish after all recordings were added. Return: 0 or -ENOMEM. */
int variation_recorded_end(struct variation_recorded *recorded);

#endif
