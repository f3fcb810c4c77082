// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/variation/variation_profile.h"

#include <errno.h>
#include <stdlib.h>

#include "instrument/profile/profile_file.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Limit, so that no sum overflows: more than a thread can measure in a century. */
#define COUNT_MAX (UINT64_C(1) << 40)

bool variation_path_is_possible(const struct variation_path *path)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < VARIATION_BUCKETS; i++) {
		if (path->buckets[i] > COUNT_MAX)
			return false;
		sum += path->buckets[i];
	}
	return path->count <= COUNT_MAX && path->interrupted <= COUNT_MAX &&
	       path->interrupted_total / VARIATION_LONG >= path->interrupted &&
	       path->interrupted_total <= INT64_MAX >> 1 && sum == path->count &&
	       (path->count == 0 || (path->least > 0 && path->total / path->count >= path->least &&
				     path->total / path->count < VARIATION_LONG));
}

void variation_path_add(struct variation_path *path, const struct variation_path *other)
{
	if (other->count > 0 && (path->count == 0 || other->least < path->least))
		path->least = other->least;
	path->count += other->count;
	path->total += other->total;
	path->interrupted += other->interrupted;
	path->interrupted_total += other->interrupted_total;
	for (size_t i = 0; i < VARIATION_BUCKETS; i++)
		path->buckets[i] += other->buckets[i];
}

/*
 * A running or killed program may not have counted the last execution yet, and a signal handler may
 * never have returned to the update. Return: false: there is no such path, or the times are
 * impossible.
 */
static bool take_entry(struct variation_path *ret, const struct paths_map *map,
		       const struct variation_entry *entry)
{
	uint64_t procedure = (entry->key >> 32) - 1;

	if (entry->key >> 32 == 0 || procedure >= map->procedure_count ||
	    (uint32_t)entry->key >= map->procedures[procedure].graph.count)
		return false;
	*ret = (struct variation_path){
		.total = entry->total,
		.least = entry->least,
		.interrupted = entry->interrupted,
		.interrupted_total = entry->interrupted_total,
	};
	for (size_t i = 0; i < VARIATION_BUCKETS; i++) {
		ret->buckets[i] = entry->buckets[i];
		ret->count += entry->buckets[i];
	}
	return entry->count <= ret->count && variation_path_is_possible(ret);
}

/* Find or add a path. Return: NULL: no memory. */
static struct variation_path *find_path(struct variation_profile *profile, uint64_t key)
{
	uint64_t *place = u64_map_insert(&profile->places, key);

	if (place == NULL)
		return NULL;
	if (*place > 0)
		return &profile->paths[*place - 1];
	if (array_reserve(&profile->paths, &profile->capacity, profile->count + 1,
			  sizeof(*profile->paths)) < 0)
		return NULL;
	profile->paths[profile->count] = (struct variation_path){
		.procedure = (uint32_t)(key >> 32) - 1,
		.number = (uint32_t)key,
	};
	*place = ++profile->count;
	return &profile->paths[*place - 1];
}

static int add_entry(struct variation_profile *profile, const struct paths_map *map,
		     const struct variation_entry *entry)
{
	struct variation_path times, *path;

	if (!take_entry(&times, map, entry)) {
		profile->damaged++;
		return 0;
	}
	path = find_path(profile, entry->key);
	if (path == NULL)
		return -ENOMEM;
	variation_path_add(path, &times);
	return 0;
}

static int variation_profile_add_block(struct variation_profile *profile,
				       const struct paths_map *map, const struct profile_file *file,
				       uint64_t block, struct variation_area *area)
{
	int r = profile_file_read(file, block, 0, area, sizeof(*area));

	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < VARIATION_ENTRIES; i++) {
		const struct variation_entry *entry = &area->entries[i];

		if (entry->count == 0 && entry->interrupted == 0)
			continue;
		r = add_entry(profile, map, entry);
	}
	profile->lost += area->lost;
	profile->overflow += area->overflow;
	profile->threads++;
	return r;
}

int variation_profile_add(struct variation_profile *profile, const struct paths_map *map,
			  const char *path, struct error *err)
{
	_cleanup_free_ struct variation_area *area = malloc(sizeof(*area));
	struct profile_file file;
	int r;

	if (area == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = profile_file_open(&file, path, map->image, 0, err);
	if (r < 0)
		return r;
	if (file.header.mode != PROFILE_LAYOUT_VARIATION || file.header.area_bytes < sizeof(*area))
		r = error_set(err, EBADMSG, ERROR_DAMAGED, path);
	for (uint64_t i = 0; r == 0 && i < file.blocks; i++) {
		r = variation_profile_add_block(profile, map, &file, i, area);
		if (r < 0)
			r = error_set(err, -r, ERROR_READ, path);
	}
	profile->files++;
	profile->shared += file.header.shared;
	profile_file_close(&file);
	return r;
}

void variation_profile_deinit(struct variation_profile *profile)
{
	free(profile->paths);
	u64_map_deinit(&profile->places);
	*profile = (struct variation_profile){0};
}
