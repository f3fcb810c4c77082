// SPDX-License-Identifier: GPL-2.0-only
#include "lib/u64_map.h"

#include <stdlib.h>
#include <string.h>

/*
 * Key 0 marks a free slot. The value of key 0 itself is in an additional slot after the table,
 * whose key is nonzero if it is in use.
 */
struct u64_map_slot {
	uint64_t key;
	uint64_t value;
};

static size_t home_slot(const struct u64_map *map, uint64_t key)
{
	uint64_t h = key * 0x9e3779b97f4a7c15ULL;

	return (size_t)((h ^ h >> 32) & (map->capacity - 1));
}

/* Return the slot that holds the key, or the free one where it belongs. */
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

static bool has_zero(const struct u64_map *map)
{
	return map->capacity != 0 && map->slots[map->capacity].key != 0;
}

size_t u64_map_count(const struct u64_map *map)
{
	return map->used + has_zero(map);
}

size_t u64_map_bytes(const struct u64_map *map)
{
	return map->capacity != 0 ? (map->capacity + 1) * sizeof(*map->slots) : 0;
}

uint64_t *u64_map_find(const struct u64_map *map, uint64_t key)
{
	struct u64_map_slot *slot;

	if (map->capacity == 0)
		return NULL;
	if (key == 0)
		return has_zero(map) ? &map->slots[map->capacity].value : NULL;
	slot = probe(map, key);
	return slot->key == key ? &slot->value : NULL;
}

static bool grow(struct u64_map *map)
{
	struct u64_map larger = *map;
	size_t i;

	larger.capacity = map->capacity == 0 ? 16 : map->capacity * 2;
	larger.slots = calloc(larger.capacity + 1, sizeof(*larger.slots));
	if (larger.slots == NULL)
		return false;
	if (map->capacity != 0)
		larger.slots[larger.capacity] = map->slots[map->capacity];
	for (i = 0; i < map->capacity; i++) {
		if (map->slots[i].key != 0)
			*probe(&larger, map->slots[i].key) = map->slots[i];
	}
	free(map->slots);
	*map = larger;
	return true;
}

static uint64_t *insert_zero(struct u64_map *map)
{
	struct u64_map_slot *slot;

	if (map->capacity == 0 && !grow(map))
		return NULL;
	slot = &map->slots[map->capacity];
	if (slot->key == 0) {
		slot->key = 1;
		slot->value = 0;
	}
	return &slot->value;
}

uint64_t *u64_map_insert(struct u64_map *map, uint64_t key)
{
	struct u64_map_slot *slot;

	if (key == 0)
		return insert_zero(map);
	slot = map->capacity != 0 ? probe(map, key) : NULL;
	if (slot != NULL && slot->key == key)
		return &slot->value;
	if ((map->used + 1) * 4 > map->capacity * 3) {
		if (!grow(map))
			return NULL;
		slot = probe(map, key);
	}
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): without slots it has grown */
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

	if (map->capacity == 0)
		return false;
	if (key == 0) {
		found = has_zero(map);
		map->slots[map->capacity].key = 0;
		return found;
	}
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
	if (*cursor == map->capacity && has_zero(map)) {
		*key = 0;
		*value = map->slots[(*cursor)++].value;
		return true;
	}
	return false;
}
