// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_cache.h"

#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/u64_map.h"

/* Images without a table take little memory; when there are this many, all are forgotten. */
#define IMAGES_MAX 65536
/* Memory that malloc() adds to the size of a page. */
#define PAGE_OVERHEAD 8
/* Number of a page that is not one of the table. */
#define ANCHOR INT32_MAX

/*
 * @table:  NULL: the image has none
 * @pages:  number of pages that are here
 * @anchor: a page without code, if the image had no others: it has a place in the order of use
 * @final:  no more pages can be read
 */
struct unwind_cached_image {
	uint32_t number;
	uint32_t pages;
	bool final;
	struct unwind_table *table;
	struct unwind_page *anchor;
};

/* Pages in the order of their last use. */
struct page_list {
	struct unwind_page *newest;
	struct unwind_page *oldest;
};

/*
 * @images: by number: pointers to struct unwind_cached_image
 * @used:   pages that have been used; @unused: others, in the order in which they were added
 * @adding: image that gets pages now, which remains even if it has none
 */
struct unwind_cache {
	size_t bytes_max;
	struct u64_map images;
	struct page_list used;
	struct page_list unused;
	struct unwind_cached_image *adding;
	struct unwind_cache_counts counts;
};

struct unwind_cache *unwind_cache_create(size_t bytes_max)
{
	struct unwind_cache *cache = calloc(1, sizeof(*cache));

	if (cache != NULL)
		cache->bytes_max = bytes_max;
	return cache;
}

static struct unwind_cached_image *image_of(uint64_t value)
{
	return (struct unwind_cached_image *)(uintptr_t)value;
}

static void images_clear(struct unwind_cache *cache)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (u64_map_next(&cache->images, &cursor, &key, &value)) {
		unwind_table_destroy(image_of(value)->table);
		free(image_of(value)->anchor);
		free(image_of(value));
	}
	u64_map_deinit(&cache->images);
	cache->used = cache->unused = (struct page_list){NULL, NULL};
	cache->counts.bytes = cache->counts.images = cache->counts.pages = 0;
}

void unwind_cache_destroy(struct unwind_cache *cache)
{
	if (cache == NULL)
		return;
	images_clear(cache);
	free(cache);
}

static size_t page_bytes(const struct unwind_page *page)
{
	return unwind_page_size(page) + PAGE_OVERHEAD;
}

static void page_link(struct page_list *list, struct unwind_page *page)
{
	page->newer = NULL;
	page->older = list->newest;
	*(list->newest != NULL ? &list->newest->newer : &list->oldest) = page;
	list->newest = page;
}

static void page_unlink(struct page_list *list, struct unwind_page *page)
{
	*(page->newer != NULL ? &page->newer->older : &list->newest) = page->older;
	*(page->older != NULL ? &page->older->newer : &list->oldest) = page->newer;
}

static struct unwind_page **page_slot(struct unwind_cached_image *image, uint32_t number)
{
	return number == ANCHOR ? &image->anchor : &image->table->pages[number];
}

static void page_use(struct unwind_cache *cache, struct unwind_page *page)
{
	if (cache->used.newest == page)
		return;
	page_unlink(page->used ? &cache->used : &cache->unused, page);
	page->used = true;
	page_link(&cache->used, page);
}

enum unwind_cached unwind_cache_find(struct unwind_cache *cache, uint32_t image, uint64_t offset,
				     const struct unwind_rule **ret)
{
	const uint64_t *found = u64_map_find(&cache->images, image);
	const struct unwind_cached_image *cached;
	const struct unwind_rule *rule;
	struct unwind_page *page;

	if (found == NULL)
		return UNWIND_CACHED_UNKNOWN;
	cached = image_of(*found);
	if (cached->table == NULL)
		return UNWIND_CACHED_NONE;
	rule = unwind_table_find(cached->table, offset);
	if (rule == NULL)
		return cached->final ? UNWIND_CACHED_NONE : UNWIND_CACHED_MISSING;
	page = unwind_table_page(cached->table, offset);
	if (page == NULL)
		page = cached->anchor;
	if (page != NULL)
		page_use(cache, page);
	*ret = rule;
	return UNWIND_CACHED_RULE;
}

static void image_remove(struct unwind_cache *cache, struct unwind_cached_image *image)
{
	u64_map_remove(&cache->images, image->number);
	if (image->table != NULL) {
		cache->counts.bytes -= unwind_table_fixed_bytes(image->table);
		cache->counts.images--;
	}
	unwind_table_destroy(image->table);
	free(image);
}

static void page_remove(struct unwind_cache *cache, struct unwind_page *page)
{
	struct unwind_cached_image *image = page->image;

	page_unlink(page->used ? &cache->used : &cache->unused, page);
	cache->counts.bytes -= page_bytes(page);
	cache->counts.pages--;
	*page_slot(image, page->number) = NULL;
	image->pages--;
	free(page);
	if (image->pages == 0 && image != cache->adding)
		image_remove(cache, image);
}

static void page_evict(struct unwind_cache *cache, struct unwind_page *page)
{
	cache->counts.evicted++;
	page_remove(cache, page);
}

/* Evict pages until @bytes fit. Return: false: they cannot. */
static bool room_make(struct unwind_cache *cache, size_t bytes)
{
	while (cache->counts.bytes + bytes > cache->bytes_max) {
		struct unwind_page *page =
			cache->unused.oldest != NULL ? cache->unused.oldest : cache->used.oldest;

		if (page == NULL)
			return false;
		page_evict(cache, page);
	}
	return true;
}

/* Evict pages of other images that were never used until @bytes fit. Return: false: they cannot. */
static bool room_find(struct unwind_cache *cache, size_t bytes)
{
	while (cache->counts.bytes + bytes > cache->bytes_max) {
		struct unwind_page *page = cache->unused.oldest;

		if (page == NULL || page->image == cache->adding)
			return false;
		page_evict(cache, page);
	}
	return true;
}

/* Take the place of a page that is not here. */
static void page_insert(struct unwind_cache *cache, struct unwind_page *page, bool used)
{
	struct unwind_cached_image *image = cache->adding;

	page->image = image;
	page->used = used;
	page_link(used ? &cache->used : &cache->unused, page);
	*page_slot(image, page->number) = page;
	image->pages++;
	cache->counts.pages++;
	cache->counts.bytes += page_bytes(page);
}

/* Take a page from @from. Return: NULL: it is missing, or already here. */
static struct unwind_page *page_take(const struct unwind_cache *cache, struct unwind_page **from)
{
	struct unwind_page *page = *from;

	if (page == NULL || cache->adding->table->pages[page->number] != NULL)
		return NULL;
	*from = NULL;
	return page;
}

/* Move a wanted page. Return: false: it does not fit. */
static bool wanted_move(struct unwind_cache *cache, struct unwind_page **from)
{
	struct unwind_page *page = page_take(cache, from);

	if (page == NULL)
		return true;
	if (!room_make(cache, page_bytes(page))) {
		free(page);
		return false;
	}
	page_insert(cache, page, true);
	return true;
}

static void other_move(struct unwind_cache *cache, struct unwind_page **from)
{
	struct unwind_page *page = page_take(cache, from);

	if (page == NULL)
		return;
	if (room_find(cache, page_bytes(page)))
		page_insert(cache, page, false);
	else
		free(page);
}

/* Return: false if the limit of memory leaves no room. */
static bool anchor_insert(struct unwind_cache *cache)
{
	struct unwind_page *anchor = calloc(1, sizeof(*anchor));

	if (anchor == NULL || !room_make(cache, page_bytes(anchor))) {
		free(anchor);
		return false;
	}
	anchor->number = ANCHOR;
	page_insert(cache, anchor, true);
	return true;
}

/* Move the pages to the image. Return: false: those that are wanted do not fit. */
static bool pages_move(struct unwind_cache *cache, struct unwind_table *table,
		       const struct unwind_wanted *wanted)
{
	uint32_t count = wanted != NULL ? wanted->count : table->page_count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t page = wanted != NULL ? unwind_table_index(table, wanted->pages[i]) : i;

		if (page < table->page_count && !wanted_move(cache, &table->pages[page]))
			return false;
	}
	for (uint32_t i = 0; i < table->page_count; i++)
		other_move(cache, &table->pages[i]);
	return cache->adding->pages > 0 || anchor_insert(cache);
}

/* Return: a new image; NULL if out of memory. */
static struct unwind_cached_image *image_insert(struct unwind_cache *cache, uint32_t number)
{
	struct unwind_cached_image *image = calloc(1, sizeof(*image));
	uint64_t *slot;

	if (image == NULL)
		return NULL;
	if (u64_map_count(&cache->images) == IMAGES_MAX)
		images_clear(cache);
	slot = u64_map_insert(&cache->images, number);
	if (slot == NULL) {
		free(image);
		return NULL;
	}
	image->number = number;
	*slot = (uintptr_t)image;
	return image;
}

/* Give an image a table that has no pages. Return: false: it does not fit. */
static bool table_start(struct unwind_cache *cache, struct unwind_cached_image *image,
			const struct unwind_table *from)
{
	size_t bytes = unwind_table_fixed_bytes(from);

	if (!room_make(cache, bytes))
		return false;
	image->table = unwind_table_copy(from);
	if (image->table == NULL)
		return false;
	cache->counts.bytes += bytes;
	cache->counts.images++;
	return true;
}

/* Remove all pages. */
static void image_empty(struct unwind_cache *cache, struct unwind_cached_image *image)
{
	struct unwind_table *table = image->table;

	for (uint32_t i = 0; table != NULL && i < table->page_count; i++) {
		if (table->pages[i] != NULL)
			page_remove(cache, table->pages[i]);
	}
	if (image->anchor != NULL)
		page_remove(cache, image->anchor);
	if (table == NULL)
		return;
	cache->counts.bytes -= unwind_table_fixed_bytes(table);
	cache->counts.images--;
	unwind_table_destroy(table);
	image->table = NULL;
}

/* Return: the number of each rule of @from in @table, freed by the caller; NULL: one is missing. */
static uint16_t *rules_map(const struct unwind_table *table, const struct unwind_table *from)
{
	uint16_t *numbers = calloc(from->rule_count, sizeof(*numbers));
	struct u64_map known = {0};
	uint64_t *slot = NULL;

	for (uint32_t i = 0; i < table->rule_count; i++) {
		slot = u64_map_insert(&known, unwind_rule_hash(&table->rules[i]));
		if (slot != NULL)
			*slot = i;
	}
	for (uint32_t i = 0; numbers != NULL && i < from->rule_count; i++) {
		slot = u64_map_find(&known, unwind_rule_hash(&from->rules[i]));
		if (slot == NULL ||
		    memcmp(&table->rules[*slot], &from->rules[i], sizeof(*from->rules)) != 0) {
			free(numbers);
			numbers = NULL;
		} else {
			numbers[i] = (uint16_t)*slot;
		}
	}
	u64_map_deinit(&known);
	return numbers;
}

/* A page of @from, which has only some pages, and its place in @table. */
struct conversion {
	const struct unwind_table *table;
	const struct unwind_table *from;
	const uint16_t *numbers;
	struct unwind_row *rows;
};

/* Encode a page with the rules of the table. Return: NULL: it is not a page of the table. */
static struct unwind_page *page_convert(const struct conversion *conversion, uint64_t number)
{
	const struct unwind_table *table = conversion->table, *from = conversion->from;
	uint32_t index = unwind_table_index(table, number);
	uint32_t there = unwind_table_index(from, number), start, count = 0;
	struct unwind_cursor cursor = {.at = 0};
	struct unwind_page *page;

	if (index == table->page_count || there == from->page_count || from->pages[there] == NULL)
		return NULL;
	cursor.rule = from->starts[there] & ~UNWIND_START_ROWS;
	start = conversion->numbers[cursor.rule];
	if (table->starts[index] != (start | UNWIND_START_ROWS))
		return NULL;
	while (unwind_page_next(from->pages[there], from->followers, &cursor))
		conversion->rows[count++] =
			(struct unwind_row){cursor.offset, conversion->numbers[cursor.rule]};
	page = unwind_page_encode(table->followers, start, conversion->rows, count);
	if (page != NULL)
		page->number = index;
	return page;
}

/* Add the wanted pages. Return: false: they are not pages of the image's table. */
static bool pages_merge(struct unwind_cache *cache, const struct unwind_table *from,
			const struct unwind_wanted *wanted)
{
	_cleanup_free_ uint16_t *numbers = rules_map(cache->adding->table, from);
	_cleanup_free_ struct unwind_row *rows = malloc(UNWIND_PAGE_BYTES * sizeof(*rows));
	const struct conversion conversion = {cache->adding->table, from, numbers, rows};

	if (numbers == NULL || rows == NULL)
		return false;
	for (uint32_t i = 0; i < wanted->count; i++) {
		struct unwind_page *page = page_convert(&conversion, wanted->pages[i]);
		bool is_moved = page != NULL && wanted_move(cache, &page);

		free(page);
		if (!is_moved)
			return false;
	}
	return true;
}

/* @image: has no table, or one of the same file */
static void table_move(struct unwind_cache *cache, struct unwind_cached_image *image,
		       struct unwind_table *table, const struct unwind_wanted *wanted)
{
	if (image->table != NULL && !unwind_table_is_same(image->table, table))
		image_empty(cache, image);
	if ((image->table == NULL && !table_start(cache, image, table)) ||
	    !pages_move(cache, table, wanted))
		image_empty(cache, image);
}

void unwind_cache_add(struct unwind_cache *cache, uint32_t number, struct unwind_table *table,
		      const struct unwind_wanted *wanted)
{
	const uint64_t *found = u64_map_find(&cache->images, number);
	bool only = table != NULL && wanted != NULL && wanted->only;
	struct unwind_cached_image *image = NULL;

	if (found != NULL)
		image = image_of(*found);
	else if (!only)
		image = image_insert(cache, number);
	if (image != NULL && !(only && image->table == NULL)) {
		cache->adding = image;
		if (only)
			image->final = !pages_merge(cache, table, wanted);
		if (only && image->pages == 0)
			image_empty(cache, image);
		if (!only && table != NULL)
			table_move(cache, image, table, wanted);
		if (table == NULL)
			image->final = true;
		cache->counts.built += table != NULL;
		cache->counts.failed += image->table == NULL;
		cache->adding = NULL;
	}
	unwind_table_destroy(table);
}

struct unwind_cache_counts unwind_cache_counts(const struct unwind_cache *cache)
{
	return cache->counts;
}
