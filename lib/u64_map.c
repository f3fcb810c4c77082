// SPDX-License-Identifier: GPL-2.0-only
#include "lib/u64_map.h"

#include <stdlib.h>
#include <string.h>

/* Key 0 marks a free slot; the entry with key 0 lives in the map itself. */
struct u64_map_slot {
	uint64_t key;
	uint64_t value;
};

static size_t home_slot(const struct u64_map *map, uint64_t key)
{
	uint64_t h = key * 0x9e3779b97f4a7c15ULL;

	return (size_t)((h ^ h >> 32) & (map->capacity - 1));
}

/* The slot that holds the key, or the free one where it belongs. */
static struct u64_map_slot *probe(const struct u64_map *map, uint64_t key)
{
	size_t i = home_slot(map, key);

	while (map->slots[i].key != 0 && map->slots[i].key != key)
		i = (i + 1) & (map->capacity - 1);
	return &map->slots[i];
}

void u64_map_deinit(struct u64_map *map)
{
	free(map->slots);
	memset(map, 0, sizeof(*map));
}

size_t u64_map_count(const struct u64_map *map)
{
	return map->used + map->has_zero;
}

uint64_t *u64_map_find(struct u64_map *map, uint64_t key)
{
	struct u64_map_slot *slot;

	if (key == 0)
		return map->has_zero ? &map->zero_value : NULL;
	if (map->capacity == 0)
		return NULL;
	slot = probe(map, key);
	return slot->key == key ? &slot->value : NULL;
}

static bool grow(struct u64_map *map)
{
	struct u64_map larger = *map;
	size_t i;

	larger.capacity = map->capacity == 0 ? 16 : map->capacity * 2;
	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (larger.slots == NULL)
		return false;
	for (i = 0; i < map->capacity; i++) {
		if (map->slots[i].key != 0)
			*probe(&larger, map->slots[i].key) = map->slots[i];
	}
	free(map->slots);
	*map = larger;
	return true;
}

uint64_t *u64_map_insert(struct u64_map *map, uint64_t key)
{
	struct u64_map_slot *slot;

	if (key == 0) {
		if (!map->has_zero) {
			map->has_zero = true;
			map->zero_value = 0;
		}
		return &map->zero_value;
	}
	if (map->capacity != 0) {
		slot = probe(map, key);
		if (slot->key == key)
			return &slot->value;
	}
	if ((map->used + 1) * 4 > map->capacity * 3 && !grow(map))
		return NULL;
	slot = probe(map, key);
	slot->key = key;
	slot->value = 0;
	map->used++;
	return &slot->value;
}

/* Close the gap: entries that were displaced past it move back. */
static void close_gap(struct u64_map *map, size_t gap)
{
	size_t mask = map->capacity - 1;
	size_t i = gap;

	for (;;) {
		i = (i + 1) & mask;
		if (map->slots[i].key == 0)
			break;
		if (((i - home_slot(map, map->slots[i].key)) & mask) >= ((i - gap) & mask)) {
			map->slots[gap] = map->slots[i];
			gap = i;
		}
	}
	map->slots[gap].key = 0;
}

bool u64_map_remove(struct u64_map *map, uint64_t key)
{
	struct u64_map_slot *slot;
	bool found;

	if (key == 0) {
		found = map->has_zero;
		map->has_zero = false;
		return found;
	}
	if (map->capacity == 0)
		return false;
	slot = probe(map, key);
	if (slot->key != key)
		return false;
	close_gap(map, (size_t)(slot - map->slots));
	map->used--;
	return true;
}

bool u64_map_next(const struct u64_map *map, size_t *cursor, uint64_t *key, uint64_t *value)
{
	while (*cursor < map->capacity) {
		const struct u64_map_slot *slot = &map->slots[(*cursor)++];

		if (slot->key != 0) {
			*key = slot->key;
			*value = slot->value;
			return true;
		}
	}
	if (*cursor == map->capacity && map->has_zero) {
		(*cursor)++;
		*key = 0;
		*value = map->zero_value;
		return true;
	}
	return false;
}
