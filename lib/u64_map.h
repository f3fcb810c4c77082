/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hash map from 64-bit keys to 64-bit values.
 *
 * Open addressing with linear probing, power-of-two capacity, at most three
 * quarters full; all operations O(1) expected. 16 bytes per slot. An empty map
 * owns no memory. Any key is allowed.
 */
#ifndef DCPI_U64_MAP_H
#define DCPI_U64_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct u64_map_slot;

/** struct u64_map - zero-initialised is empty; fields are private. */
struct u64_map {
	struct u64_map_slot *slots;
	size_t capacity;
	size_t used;
};

/** u64_map_deinit() - free everything; the map is empty again. */
void u64_map_deinit(struct u64_map *map);

/** u64_map_count() - return the number of keys. */
size_t u64_map_count(const struct u64_map *map);

/** u64_map_bytes() - return the size of the memory that the map owns. */
size_t u64_map_bytes(const struct u64_map *map);

/**
 * u64_map_find() - look a key up
 *
 * Return: its value, valid until the next insertion or removal; NULL if the
 * key is not there.
 */
uint64_t *u64_map_find(const struct u64_map *map, uint64_t key);

/**
 * u64_map_insert() - find a key or add it with value 0
 *
 * Return: its value as for u64_map_find(); NULL if out of memory.
 */
uint64_t *u64_map_insert(struct u64_map *map, uint64_t key);

/** u64_map_remove() - remove a key. Return: true if it was in the map. */
bool u64_map_remove(struct u64_map *map, uint64_t key);

/**
 * u64_map_next() - iterate over all entries, in no particular order
 * @cursor: set to 0 before the first call
 *
 * During the iteration, only values of the map may be changed.
 *
 * Return: true if there was another entry.
 */
bool u64_map_next(const struct u64_map *map, size_t *cursor, uint64_t *key, uint64_t *value);

#endif
