// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/footprint_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/collect/keyed_hash.h"
#include "lib/cleanup.h"
#include "lib/u64_map.h"

/* Entries that one of them is replaced among. */
#define CANDIDATES 8

/* @key: of the entry in the index */
struct entry {
	uint64_t key;
	uint32_t image;
	struct footprint footprint;
};

/* Number of cache lines for which the last access is stored. */
#define LINES_MAX 1024

/* struct line_access - an access to a line; @key: of the instruction's entry */
struct line_access {
	uint64_t key;
	uint64_t time_ns;
	uint64_t offset;
	uint32_t image;
	uint32_t thread;
	uint32_t cpu;
	uint8_t byte;
};

/*
 * struct line - the last access to a line, and the last one of another thread
 * @hash:    of the line, 0: none
 * @has_other: there is @other
 */
struct line {
	uint64_t hash;
	struct line_access last;
	struct line_access other;
	bool has_other;
};

/* @index: key of image and offset to position in @entries, plus one */
struct footprint_store {
	struct u64_map index;
	struct entry *entries[FOOTPRINT_STORE_MAX];
	struct line lines[LINES_MAX];
	size_t count;
	uint64_t seed;
	uint64_t random;
	uint64_t dropped;
};

struct footprint_store *footprint_store_create(void)
{
	struct footprint_store *store = calloc(1, sizeof(*store));

	if (store != NULL) {
		keyed_hash_renew(&store->seed);
		store->random = UINT64_C(0x9e3779b97f4a7c15);
	}
	return store;
}

void footprint_store_clear(struct footprint_store *store)
{
	for (size_t i = 0; i < store->count; i++)
		free(store->entries[i]);
	store->count = 0;
	memset(store->lines, 0, sizeof(store->lines));
	u64_map_deinit(&store->index);
	keyed_hash_renew(&store->seed);
}

void footprint_store_destroy(struct footprint_store *store)
{
	if (store == NULL)
		return;
	footprint_store_clear(store);
	free(store);
}

/* Remove the entry with the fewest samples among a few random ones. */
static void replace(struct footprint_store *store)
{
	struct entry *last = store->entries[store->count - 1];
	size_t least = store->count - 1;
	uint64_t *moved;

	for (int i = 0; i < CANDIDATES; i++) {
		size_t at;

		store->random = keyed_hash(store->seed, store->random, (uint64_t)i);
		at = store->random % store->count;
		if (store->entries[at]->footprint.samples <
		    store->entries[least]->footprint.samples)
			least = at;
	}
	store->dropped += store->entries[least]->footprint.samples;
	u64_map_remove(&store->index, store->entries[least]->key);
	free(store->entries[least]);
	store->count--;
	if (least == store->count)
		return;
	store->entries[least] = last;
	moved = u64_map_find(&store->index, last->key);
	*moved = least + 1;
}

static struct entry *entry_of(struct footprint_store *store, uint32_t image, uint64_t offset)
{
	uint64_t key = keyed_hash(store->seed, image, offset),
		 *slot = u64_map_find(&store->index, key);
	struct entry *entry;

	if (slot != NULL)
		return store->entries[*slot - 1];
	entry = calloc(1, sizeof(*entry));
	if (entry == NULL)
		return NULL;
	if (store->count == FOOTPRINT_STORE_MAX)
		replace(store);
	slot = u64_map_insert(&store->index, key);
	if (slot == NULL) {
		free(entry);
		return NULL;
	}
	entry->key = key;
	entry->image = image;
	entry->footprint.offset = offset;
	store->entries[store->count++] = entry;
	*slot = store->count;
	return entry;
}

/* The most frequent value, if it is more than half of all (Boyer and Moore, MJRTY, 1981). */
static void stride_add(struct footprint *footprint, int64_t stride)
{
	footprint->strides++;
	if (footprint->equal == 0) {
		footprint->stride = stride;
		footprint->equal = 1;
	} else if (footprint->stride == stride) {
		footprint->equal++;
	} else {
		footprint->equal--;
	}
}

/* The most frequent partner, as the stride. @offset: in the same image */
static void partner_add(struct footprint *footprint, uint64_t offset, uint8_t own_byte,
			uint8_t byte)
{
	struct footprint_partner *partner = &footprint->partner;

	if (footprint->partner_votes == 0)
		*partner = (struct footprint_partner){offset, byte, own_byte};
	else if (partner->offset != offset || partner->byte != byte ||
		 partner->own_byte != own_byte) {
		footprint->partner_votes--;
		return;
	}
	footprint->partner_votes++;
}

/* Remember an access. Return: the last one of another thread, NULL: none is remembered. */
static const struct line_access *line_update(struct line *line, uint64_t hash,
					     const struct line_access *access)
{
	if (line->hash != hash) {
		*line = (struct line){.hash = hash, .last = *access};
		return NULL;
	}
	if (line->last.thread != access->thread) {
		line->other = line->last;
		line->has_other = true;
	}
	line->last = *access;
	return line->has_other ? &line->other : NULL;
}

/* Both instructions share the line: the one now, and that of the other thread. */
static void sharing_add(struct footprint_store *store, struct entry *entry,
			const struct footprint_access *access, uint64_t hash)
{
	const struct line_access now = {
		.key = entry->key,
		.time_ns = access->time_ns,
		.offset = access->offset,
		.image = entry->image,
		.thread = access->thread,
		.cpu = access->cpu,
		.byte = access->address % FOOTPRINT_LINE_BYTES,
	};
	const struct line_access *other = line_update(&store->lines[hash % LINES_MAX], hash, &now);
	uint64_t *slot;

	/* Samples of CPUs are not in the order of time. */
	if (other == NULL || other->cpu == now.cpu ||
	    now.time_ns - other->time_ns + FOOTPRINT_SHARING_NS > 2 * FOOTPRINT_SHARING_NS)
		return;
	entry->footprint.shared++;
	if (other->image != now.image)
		return;
	partner_add(&entry->footprint, other->offset, now.byte, other->byte);
	slot = u64_map_find(&store->index, other->key);
	if (slot != NULL)
		partner_add(&store->entries[*slot - 1]->footprint, now.offset, other->byte,
			    now.byte);
}

void footprint_store_add(struct footprint_store *store, uint32_t image,
			 const struct footprint_access *access)
{
	uint64_t line =
		keyed_hash(store->seed, access->address / FOOTPRINT_LINE_BYTES, access->space);
	struct entry *entry = entry_of(store, image, access->offset);
	struct footprint *footprint;

	if (entry == NULL) {
		store->dropped++;
		return;
	}
	footprint = &entry->footprint;
	footprint->samples++;
	footprint->stack += access->stack;
	if (access->has_stride)
		stride_add(footprint, access->stride);
	sharing_add(store, entry, access, line);
	distinct_sketch_add(&footprint->lines, (uint32_t)line);
	distinct_sketch_add(&footprint->pages,
			    (uint32_t)keyed_hash(store->seed,
						 ~(access->address / FOOTPRINT_PAGE_BYTES),
						 access->space));
}

size_t footprint_store_bytes(const struct footprint_store *store)
{
	return sizeof(*store) + u64_map_bytes(&store->index) +
	       store->count * sizeof(*store->entries[0]);
}

uint64_t footprint_store_dropped(const struct footprint_store *store)
{
	return store->dropped;
}

static int by_place(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->footprint.offset > y->footprint.offset) -
	       (x->footprint.offset < y->footprint.offset);
}

int footprint_store_images(const struct footprint_store *store,
			   int (*visit)(void *context, uint32_t image,
					const struct footprint *const *footprints, size_t count),
			   void *context)
{
	_cleanup_free_ const struct entry **sorted = calloc(store->count + 1, sizeof(*sorted));
	_cleanup_free_ const struct footprint **footprints =
		calloc(store->count + 1, sizeof(*footprints));
	int r = 0;

	if (sorted == NULL || footprints == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < store->count; i++)
		sorted[i] = store->entries[i];
	qsort(sorted, store->count, sizeof(*sorted), by_place);
	for (size_t i = 0; i < store->count; i++)
		footprints[i] = &sorted[i]->footprint;
	for (size_t first = 0, end; first < store->count && r == 0; first = end) {
		for (end = first + 1;
		     end < store->count && sorted[end]->image == sorted[first]->image;)
			end++;
		r = visit(context, sorted[first]->image, &footprints[first], end - first);
	}
	return r;
}
