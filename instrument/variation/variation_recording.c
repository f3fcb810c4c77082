// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/variation/variation_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/profile/recording_builder.h"
#include "instrument/variation/variation_listing.h"
#include "lib/array.h"

/* --- to a recording ------------------------------------------------------- */

static void variation_recording_put_head(struct recording_builder *builder,
					 const struct variation_listing *listing)
{
	const struct variation_profile *profile = listing->profile;

	recording_builder_table(builder, PROFILE_VARIATION_HEAD_COLUMNS);
	recording_builder_row(builder, (uint64_t[PROFILE_VARIATION_HEAD_COLUMNS]){
					       [PROFILE_HEAD_PROCESSES] = profile->files,
					       [PROFILE_HEAD_THREADS] = profile->threads,
					       [PROFILE_HEAD_SHARED] = profile->shared,
					       [PROFILE_VARIATION_CHECKS] = listing->map->checks,
					       [PROFILE_VARIATION_LOST] = profile->lost,
					       [PROFILE_VARIATION_OVERFLOW] = profile->overflow,
					       [PROFILE_VARIATION_DAMAGED] = profile->damaged,
				       });
}

static void put_times(struct recording_builder *builder, const struct variation_path *path)
{
	uint64_t buckets = 0;

	for (uint32_t i = 0; i < VARIATION_BUCKETS; i++)
		buckets += path->buckets[i] > 0;
	recording_builder_row(builder,
			      (uint64_t[PROFILE_TIMES_COLUMNS]){
				      [PROFILE_TIMES_LEAST] = path->least,
				      [PROFILE_TIMES_INTERRUPTED] = path->interrupted,
				      [PROFILE_TIMES_INTERRUPTED_TOTAL] = path->interrupted_total,
				      [PROFILE_TIMES_BUCKETS] = buckets,
			      });
}

static void put_buckets(struct recording_builder *builder, const struct variation_path *path)
{
	for (uint32_t i = 0; i < VARIATION_BUCKETS; i++) {
		if (path->buckets[i] > 0)
			recording_builder_row(builder,
					      (uint64_t[PROFILE_BUCKET_COLUMNS]){
						      [PROFILE_BUCKET_NUMBER] = i,
						      [PROFILE_BUCKET_TIMES] = path->buckets[i],
					      });
	}
}

void variation_recording_make(struct recording_builder *builder,
			      const struct variation_listing *listing, paths_offset_fn offset_of,
			      const void *context)
{
	variation_recording_put_head(builder, listing);
	paths_recording_tables(builder, &listing->paths, offset_of, context);
	recording_builder_table(builder, PROFILE_TIMES_COLUMNS);
	for (size_t i = 0; i < listing->profile->count; i++)
		put_times(builder, listing->order[i]);
	recording_builder_table(builder, PROFILE_BUCKET_COLUMNS);
	for (size_t i = 0; i < listing->profile->count; i++)
		put_buckets(builder, listing->order[i]);
}

/* --- from a recording ----------------------------------------------------- */

void variation_recorded_deinit(struct variation_recorded *recorded)
{
	paths_recorded_deinit(&recorded->paths);
	variation_profile_deinit(&recorded->profile);
	free(recorded->times);
	*recorded = (struct variation_recorded){0};
}

static bool variation_recording_is_complete(const struct profile_recording *recording)
{
	return profile_recording_has(recording, PROFILE_PATHS_HEAD,
				     PROFILE_VARIATION_HEAD_COLUMNS) &&
	       recording->tables[PROFILE_PATHS_HEAD].rows == 1 &&
	       profile_recording_has(recording, PROFILE_PATHS_PATHS, PROFILE_PATH_COLUMNS) &&
	       profile_recording_has(recording, PROFILE_VARIATION_TIMES, PROFILE_TIMES_COLUMNS) &&
	       recording->tables[PROFILE_VARIATION_TIMES].rows ==
		       recording->tables[PROFILE_PATHS_PATHS].rows &&
	       profile_recording_has(recording, PROFILE_VARIATION_BUCKETS, PROFILE_BUCKET_COLUMNS);
}

/* @from: row of the first of @count buckets, which all exist. */
static int take_buckets(struct variation_path *path, const struct profile_recording_table *table,
			size_t from, uint64_t count)
{
	uint64_t next = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t *row = profile_recording_row(table, from + i);

		if (row[PROFILE_BUCKET_NUMBER] < next ||
		    row[PROFILE_BUCKET_NUMBER] >= VARIATION_BUCKETS)
			return -EBADMSG;
		next = row[PROFILE_BUCKET_NUMBER] + 1;
		path->buckets[row[PROFILE_BUCKET_NUMBER]] = row[PROFILE_BUCKET_TIMES];
	}
	return 0;
}

static int add_times(struct variation_recorded *recorded, const struct profile_recording *recording)
{
	const struct profile_recording_table *buckets =
		&recording->tables[PROFILE_VARIATION_BUCKETS];
	size_t count = recording->tables[PROFILE_PATHS_PATHS].rows, from = 0;

	if (array_reserve(&recorded->times, &recorded->time_capacity, recorded->time_count + count,
			  sizeof(*recorded->times)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const uint64_t *path =
			profile_recording_row(&recording->tables[PROFILE_PATHS_PATHS], i);
		const uint64_t *row =
			profile_recording_row(&recording->tables[PROFILE_VARIATION_TIMES], i);
		struct variation_path *times = &recorded->times[recorded->time_count++];

		*times = (struct variation_path){
			.count = path[PROFILE_PATH_COUNT],
			.total = path[PROFILE_PATH_METRIC],
			.least = row[PROFILE_TIMES_LEAST],
			.interrupted = row[PROFILE_TIMES_INTERRUPTED],
			.interrupted_total = row[PROFILE_TIMES_INTERRUPTED_TOTAL],
		};
		if (row[PROFILE_TIMES_BUCKETS] > buckets->rows - from ||
		    take_buckets(times, buckets, from, row[PROFILE_TIMES_BUCKETS]) < 0 ||
		    !variation_path_is_possible(times))
			return -EBADMSG;
		from += row[PROFILE_TIMES_BUCKETS];
	}
	return from == buckets->rows ? 0 : -EBADMSG;
}

static int variation_recording_set_heading(struct paths_map *map, const uint64_t *head,
					   const char *build_id, bool first)
{
	if (head[PROFILE_VARIATION_CHECKS] > UINT32_MAX)
		return -EBADMSG;
	if (!first)
		return map->checks == head[PROFILE_VARIATION_CHECKS] ? 0 : -EINVAL;
	map->timed = true;
	map->checks = (uint32_t)head[PROFILE_VARIATION_CHECKS];
	free(map->build_id);
	map->build_id = strdup(build_id);
	return map->build_id != NULL ? 0 : -ENOMEM;
}

int variation_recorded_add(struct variation_recorded *recorded,
			   const struct profile_recording *recording, const char *path,
			   const char *build_id)
{
	struct variation_profile *profile = &recorded->profile;
	bool first = recorded->paths.map.path == NULL;
	const uint64_t *head;
	int r;

	if (!variation_recording_is_complete(recording))
		return -EBADMSG;
	head = profile_recording_row(&recording->tables[PROFILE_PATHS_HEAD], 0);
	r = paths_recorded_add(&recorded->paths, recording, path);
	if (r == 0)
		r = variation_recording_set_heading(&recorded->paths.map, head, build_id, first);
	if (r == 0)
		r = add_times(recorded, recording);
	if (r < 0)
		return r;
	profile->files += head[PROFILE_HEAD_PROCESSES];
	profile->threads += head[PROFILE_HEAD_THREADS];
	profile->shared += head[PROFILE_HEAD_SHARED];
	profile->lost += head[PROFILE_VARIATION_LOST];
	profile->overflow += head[PROFILE_VARIATION_OVERFLOW];
	profile->damaged += head[PROFILE_VARIATION_DAMAGED];
	return 0;
}

int variation_recorded_end(struct variation_recorded *recorded)
{
	struct variation_profile *profile = &recorded->profile;
	int r = paths_recorded_end(&recorded->paths);
	size_t count = recorded->paths.profile.sum_count;

	if (r < 0)
		return r;
	profile->paths = calloc(count + 1, sizeof(*profile->paths));
	if (profile->paths == NULL)
		return -ENOMEM;
	profile->count = count;
	for (size_t i = 0; i < count; i++) {
		profile->paths[i].procedure = recorded->paths.profile.sums[i].procedure;
		profile->paths[i].number = recorded->paths.profile.sums[i].number;
	}
	for (size_t i = 0; i < recorded->time_count; i++)
		variation_path_add(&profile->paths[recorded->paths.places[i]], &recorded->times[i]);
	return 0;
}
