/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages of unwind tables of the images whose code was sampled, within a limit of memory.
 *
 * Pages are evicted one by one: first those that were never used, the oldest first, and then the
 * least recently used ones. Only a page that is wanted evicts a used one. So the memory that is
 * needed is that of the pages that samples touch. An image without any page is forgotten. An image
 * without a table is remembered, so that its file is read once.
 */
#ifndef DCPI_UNWIND_CACHE_H
#define DCPI_UNWIND_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/unwind/unwind_table.h"

struct unwind_cache;

/**
 * struct unwind_cache_counts - since the start; @bytes, @images, @pages: now
 * @built:   tables, also of images whose pages had been evicted
 * @failed:  images without a table
 * @evicted: pages
 * @images:  with a table
 */
struct unwind_cache_counts {
	uint64_t built;
	uint64_t failed;
	uint64_t evicted;
	uint64_t images;
	uint64_t pages;
	uint64_t bytes;
};

/** enum unwind_cached - result of looking up an offset of an image */
enum unwind_cached {
	UNWIND_CACHED_RULE,    /* Its rule. */
	UNWIND_CACHED_NONE,    /* The image has no table, or can no longer be read. */
	UNWIND_CACHED_UNKNOWN, /* The image has not been added, or all its pages were evicted. */
	UNWIND_CACHED_MISSING, /* The image has a table, but this page is not here. */
};

/** unwind_cache_create() - Return: NULL if out of memory. Freed by unwind_cache_destroy(). */
struct unwind_cache *unwind_cache_create(size_t bytes_max);
void unwind_cache_destroy(struct unwind_cache *cache);

/**
 * unwind_cache_find() - find the rule at an offset of an image's file. O(1)
 * @ret: out, with UNWIND_CACHED_RULE: valid until the next unwind_cache_add()
 */
enum unwind_cached unwind_cache_find(struct unwind_cache *cache, uint32_t image, uint64_t offset,
				     const struct unwind_rule **ret);

/**
 * unwind_cache_add() - add the table of an image, or more pages of it
 * @number: of the image
 * @table:  becomes the cache's; NULL: the image has none, or can no longer be read
 * @wanted: NULL: all pages are wanted. With @only, the pages are added to the table of the image,
 *          or dropped if the image has been forgotten
 *
 * The image has no table from now on if the wanted pages do not fit into the cache. It gets no more
 * pages if they are not those of its table.
 */
void unwind_cache_add(struct unwind_cache *cache, uint32_t number, struct unwind_table *table,
		      const struct unwind_wanted *wanted);

/** unwind_cache_counts() - see there */
struct unwind_cache_counts unwind_cache_counts(const struct unwind_cache *cache);

#endif
