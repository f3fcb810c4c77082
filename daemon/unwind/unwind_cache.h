/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The unwind tables of the images whose code was sampled, within a limit of memory.
 *
 * If a new table does not fit, the tables that were used least recently are evicted. An image
 * without a table is remembered too, so that its file is read once.
 */
#ifndef DCPI_UNWIND_CACHE_H
#define DCPI_UNWIND_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/unwind/unwind_table.h"

struct unwind_cache;

/** struct unwind_cache_counts - since the start; @bytes, @tables: now */
struct unwind_cache_counts {
	uint64_t built;
	uint64_t failed;
	uint64_t evicted;
	uint64_t tables;
	uint64_t bytes;
};

/** unwind_cache_create() - Return: NULL if out of memory. Freed by unwind_cache_destroy(). */
struct unwind_cache *unwind_cache_create(size_t bytes_max);
void unwind_cache_destroy(struct unwind_cache *cache);

/**
 * unwind_cache_find() - find the table of an image
 * @known: out: false: unwind_cache_add() has not been called, or the table was evicted
 *
 * Return: valid until the next unwind_cache_add(); NULL: the image has none.
 */
const struct unwind_table *unwind_cache_find(struct unwind_cache *cache, uint32_t image,
					     bool *known);

/**
 * unwind_cache_add() - add the table of an image that is not known
 * @table: becomes the cache's; NULL: the image has none
 *
 * Return: @table; NULL: there is none, or it is larger than the cache.
 */
const struct unwind_table *unwind_cache_add(struct unwind_cache *cache, uint32_t image,
					    struct unwind_table *table);

/** unwind_cache_counts() - see there */
struct unwind_cache_counts unwind_cache_counts(const struct unwind_cache *cache);

#endif
