// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/region_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/collect/footprint_store.h"
#include "daemon/collect/keyed_hash.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/u64_map.h"

/* struct place - of static data, in units of REGION_PLACE_BYTES */
struct place {
	int64_t position;
	bool nearest;
};

/* struct region - accesses to a region; @places: the selection, REGION_PLACES, or NULL */
struct region {
	uint32_t image;
	enum profile_region region;
	uint64_t accesses;
	uint64_t nearest;
	struct distinct_sketch lines;
	struct distinct_sketch pages;
	struct place *places;
};

/* @index: image and region to position in @regions, plus one */
struct region_store {
	struct u64_map index;
	struct region *regions[REGION_STORE_MAX];
	size_t count;
	size_t bytes;
	uint64_t seed;
	uint64_t random;
	uint64_t dropped;
};

static size_t region_bytes(const struct region *region)
{
	return sizeof(*region) +
	       (region->places != NULL ? REGION_PLACES * sizeof(*region->places) : 0);
}

static void region_free(struct region *region)
{
	free(region->places);
	free(region);
}

struct region_store *region_store_create(void)
{
	struct region_store *store = calloc(1, sizeof(*store));

	if (store != NULL)
		keyed_hash_renew(&store->seed);
	return store;
}

void region_store_clear(struct region_store *store)
{
	for (size_t i = 0; i < store->count; i++)
		region_free(store->regions[i]);
	store->count = store->bytes = 0;
	u64_map_deinit(&store->index);
	keyed_hash_renew(&store->seed);
}

void region_store_destroy(struct region_store *store)
{
	if (store == NULL)
		return;
	region_store_clear(store);
	free(store);
}

size_t region_store_bytes(const struct region_store *store)
{
	return sizeof(*store) + store->bytes + u64_map_bytes(&store->index);
}

uint64_t region_store_dropped(const struct region_store *store)
{
	return store->dropped;
}

/* Return: NULL: no room. */
static struct region *region_create(struct region_store *store, const struct region_access *access)
{
	bool has_places = access->region == PROFILE_REGION_IMAGE;
	struct region *region;

	if (store->count == REGION_STORE_MAX)
		return NULL;
	region = calloc(1, sizeof(*region));
	if (region != NULL && has_places)
		region->places = calloc(REGION_PLACES, sizeof(*region->places));
	if (region == NULL || (has_places && region->places == NULL)) {
		free(region);
		return NULL;
	}
	region->image = access->image;
	region->region = access->region;
	return region;
}

static struct region *region_of(struct region_store *store, const struct region_access *access)
{
	uint64_t key = (uint64_t)access->image * PROFILE_REGIONS + access->region;
	uint64_t *slot = u64_map_find(&store->index, key);
	struct region *region;

	if (slot != NULL)
		return store->regions[*slot - 1];
	region = region_create(store, access);
	if (region == NULL)
		return NULL;
	slot = u64_map_insert(&store->index, key);
	if (slot == NULL) {
		region_free(region);
		return NULL;
	}
	store->bytes += region_bytes(region);
	store->regions[store->count++] = region;
	*slot = store->count;
	return region;
}

/* The access number @region->accesses is selected with the same probability as all before it. */
static void place_add(struct region_store *store, struct region *region,
		      const struct region_access *access)
{
	uint64_t at = region->accesses - 1;

	if (at >= REGION_PLACES) {
		store->random = keyed_hash(store->seed, store->random, region->accesses);
		at = store->random % region->accesses;
	}
	if (at < REGION_PLACES)
		region->places[at] = (struct place){
			.position = access->position / REGION_PLACE_BYTES,
			.nearest = access->nearest,
		};
}

void region_store_add(struct region_store *store, const struct region_access *access)
{
	struct region *region = region_of(store, access);

	if (region == NULL) {
		store->dropped++;
		return;
	}
	region->accesses++;
	region->nearest += access->nearest;
	if (region->places != NULL)
		place_add(store, region, access);
	distinct_sketch_add(&region->lines,
			    (uint32_t)keyed_hash(store->seed,
						 access->address / FOOTPRINT_LINE_BYTES,
						 access->space));
	distinct_sketch_add(&region->pages,
			    (uint32_t)keyed_hash(store->seed,
						 ~(access->address / FOOTPRINT_PAGE_BYTES),
						 access->space));
}

/* --- recordings ------------------------------------------------------------ */

/* struct made - the recording of one image; arrays are reused */
struct made {
	uint64_t head[PROFILE_DATA_HEAD_COLUMNS];
	uint64_t regions[PROFILE_REGIONS * PROFILE_DATA_REGION_COLUMNS];
	size_t region_count;
	uint64_t *places;
	size_t place_count;
	size_t place_capacity;
};

static void region_row_put(struct made *made, const struct region *region)
{
	uint64_t *row = &made->regions[made->region_count++ * PROFILE_DATA_REGION_COLUMNS];

	row[PROFILE_DATA_REGION] = region->region;
	row[PROFILE_DATA_ACCESSES] = region->accesses;
	row[PROFILE_DATA_NEAREST] = region->nearest;
	distinct_sketch_row(&region->lines, &row[PROFILE_DATA_LINES]);
	distinct_sketch_row(&region->pages, &row[PROFILE_DATA_PAGES]);
}

static int by_position(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

/* One row for each position, with the number of its accesses. */
static int places_put(struct made *made, struct region *region)
{
	size_t count = region->accesses < REGION_PLACES ? region->accesses : REGION_PLACES;
	uint64_t *row = NULL;

	if (array_reserve(&made->places, &made->place_capacity, count * PROFILE_PLACE_COLUMNS,
			  sizeof(*made->places)) < 0)
		return -ENOMEM;
	/* The order in a random selection has no meaning. */
	qsort(region->places, count, sizeof(*region->places), by_position);
	for (size_t i = 0; i < count; i++) {
		const struct place *place = &region->places[i];
		uint64_t position = profile_signed_encode(place->position);

		if (position > PROFILE_RECORDING_VALUE_MAX)
			continue;
		if (row == NULL || row[PROFILE_PLACE_POSITION] != position) {
			row = &made->places[made->place_count++ * PROFILE_PLACE_COLUMNS];
			row[PROFILE_PLACE_POSITION] = position;
			row[PROFILE_PLACE_ACCESSES] = row[PROFILE_PLACE_NEAREST] = 0;
		}
		row[PROFILE_PLACE_ACCESSES]++;
		row[PROFILE_PLACE_NEAREST] += place->nearest;
	}
	return 0;
}

/* @regions: of one image */
static int image_make(struct made *made, struct profile_recording *recording,
		      struct region *const *regions, size_t count)
{
	made->region_count = made->place_count = 0;
	for (size_t i = 0; i < count; i++) {
		region_row_put(made, regions[i]);
		if (regions[i]->places != NULL && places_put(made, regions[i]) < 0)
			return -ENOMEM;
	}
	memset(made->head, 0, sizeof(made->head));
	made->head[PROFILE_DATA_LINE_BYTES] = FOOTPRINT_LINE_BYTES;
	made->head[PROFILE_DATA_PAGE_BYTES] = FOOTPRINT_PAGE_BYTES;
	made->head[PROFILE_DATA_PLACE_BYTES] = REGION_PLACE_BYTES;
	*recording = (struct profile_recording){
		.mode = PROFILE_RECORDING_DATA,
		.metric = "",
		.tables = {{PROFILE_DATA_HEAD_COLUMNS, 1, made->head},
			   {PROFILE_DATA_REGION_COLUMNS, made->region_count, made->regions},
			   {PROFILE_PLACE_COLUMNS, made->place_count, made->places}},
		.table_count = PROFILE_DATA_TABLES,
	};
	return 0;
}

static int by_image(const void *a, const void *b)
{
	const struct region *x = *(struct region *const *)a, *y = *(struct region *const *)b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->region > y->region) - (x->region < y->region);
}

int region_store_images(struct region_store *store,
			int (*visit)(void *context, uint32_t image,
				     struct profile_recording *recording),
			void *context)
{
	_cleanup_free_ struct region **sorted = calloc(store->count + 1, sizeof(struct region *));
	struct made made = {.places = NULL};
	struct profile_recording recording;
	int r = 0;

	if (sorted == NULL)
		return -ENOMEM;
	memcpy(sorted, store->regions, store->count * sizeof(*sorted));
	qsort(sorted, store->count, sizeof(*sorted), by_image);
	for (size_t first = 0, end; first < store->count && r == 0; first = end) {
		for (end = first + 1;
		     end < store->count && sorted[end]->image == sorted[first]->image;)
			end++;
		r = image_make(&made, &recording, &sorted[first], end - first);
		if (r == 0)
			r = visit(context, sorted[first]->image, &recording);
	}
	free(made.places);
	return r;
}
