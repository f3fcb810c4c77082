// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_cache.h"

#include <stdlib.h>

#include "lib/array.h"
#include "lib/u64_map.h"

/* Images without a table take little memory; when there are this many, all are forgotten. */
#define IMAGES_MAX 65536

/* @used: value of the cache's clock at the last use */
struct cached {
	uint32_t image;
	struct unwind_table *table;
	size_t bytes;
	uint64_t used;
};

/* @index: image to position in @items, plus 1 */
struct unwind_cache {
	size_t bytes_max;
	struct u64_map index;
	struct cached *items;
	size_t count;
	size_t capacity;
	uint64_t clock;
	struct unwind_cache_counts counts;
};

struct unwind_cache *unwind_cache_create(size_t bytes_max)
{
	struct unwind_cache *cache = calloc(1, sizeof(*cache));

	if (cache != NULL)
		cache->bytes_max = bytes_max;
	return cache;
}

static void items_clear(struct unwind_cache *cache)
{
	for (size_t i = 0; i < cache->count; i++)
		unwind_table_destroy(cache->items[i].table);
	cache->count = 0;
	cache->counts.bytes = cache->counts.tables = 0;
	u64_map_deinit(&cache->index);
}

void unwind_cache_destroy(struct unwind_cache *cache)
{
	if (cache == NULL)
		return;
	items_clear(cache);
	free(cache->items);
	free(cache);
}

const struct unwind_table *unwind_cache_find(struct unwind_cache *cache, uint32_t image,
					     bool *known)
{
	const uint64_t *found = u64_map_find(&cache->index, image);

	*known = found != NULL;
	if (found == NULL)
		return NULL;
	cache->items[*found - 1].used = ++cache->clock;
	return cache->items[*found - 1].table;
}

/* Remove an item; the last one takes its place. */
static void item_remove(struct unwind_cache *cache, size_t i)
{
	struct cached *item = &cache->items[i];
	uint64_t *moved;

	cache->counts.bytes -= item->bytes;
	cache->counts.tables -= item->table != NULL;
	unwind_table_destroy(item->table);
	u64_map_remove(&cache->index, item->image);
	*item = cache->items[--cache->count];
	moved = i < cache->count ? u64_map_find(&cache->index, item->image) : NULL;
	if (moved != NULL)
		*moved = i + 1;
}

static void oldest_evict(struct unwind_cache *cache)
{
	size_t oldest = cache->count;

	for (size_t i = 0; i < cache->count; i++) {
		if (cache->items[i].table != NULL &&
		    (oldest == cache->count || cache->items[i].used < cache->items[oldest].used))
			oldest = i;
	}
	item_remove(cache, oldest);
	cache->counts.evicted++;
}

const struct unwind_table *unwind_cache_add(struct unwind_cache *cache, uint32_t image,
					    struct unwind_table *table)
{
	size_t bytes = table != NULL ? unwind_table_bytes(table) : 0;
	uint64_t *slot;

	if (bytes > cache->bytes_max) {
		unwind_table_destroy(table);
		table = NULL;
		bytes = 0;
	}
	if (cache->count == IMAGES_MAX)
		items_clear(cache);
	while (cache->counts.bytes + bytes > cache->bytes_max)
		oldest_evict(cache);
	slot = array_reserve(&cache->items, &cache->capacity, cache->count + 1,
			     sizeof(*cache->items)) == 0
		       ? u64_map_insert(&cache->index, image)
		       : NULL;
	if (slot == NULL) {
		unwind_table_destroy(table);
		return NULL;
	}
	cache->items[cache->count++] = (struct cached){image, table, bytes, ++cache->clock};
	*slot = cache->count;
	cache->counts.bytes += bytes;
	cache->counts.tables += table != NULL;
	cache->counts.built += table != NULL;
	cache->counts.failed += table == NULL;
	return table;
}

struct unwind_cache_counts unwind_cache_counts(const struct unwind_cache *cache)
{
	return cache->counts;
}
