// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/edge_accumulate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/collect/bin_queue.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/u64_map.h"

/* @next: index of another edge with the same hash, plus one; 0: none */
struct entry {
	struct profile_edge edge;
	size_t next;
};

/* @index: maps the hash of (from, to) to the index of the first such entry, plus one */
struct edge_bin {
	struct bin bin;
	struct edge_key key;
	struct u64_map index;
	struct entry *entries;
	size_t count;
	size_t capacity;
};

struct edge_accumulate {
	struct bin_queue queue;
};

int edge_accumulate_create(struct edge_accumulate **ret, size_t memory_limit, struct error *err)
{
	struct edge_accumulate *accumulate = calloc(1, sizeof(*accumulate));

	if (accumulate == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	accumulate->queue.memory_limit = memory_limit;
	*ret = accumulate;
	return 0;
}

void edge_accumulate_destroy(struct edge_accumulate *accumulate)
{
	if (accumulate == NULL)
		return;
	edge_accumulate_drop(accumulate, accumulate->queue.count);
	free(accumulate);
}

/* The image table has less than 2^30 images. */
static uint64_t index_key(const struct edge_key *key)
{
	_Static_assert(PROFILE_EDGE_KINDS <= 16, "four bits hold a kind");
	return (uint64_t)key->image << 34 | (uint64_t)key->to_image << 4 | (uint64_t)key->kind;
}

/* Different for most edges; edge_find() handles collisions. */
static uint64_t hash(uint64_t from, uint64_t to)
{
	return from * 0x9e3779b97f4a7c15ULL ^ (to << 32 | to >> 32);
}

static size_t bin_bytes(const struct edge_bin *bin)
{
	return sizeof(*bin) + u64_map_bytes(&bin->index) + bin->capacity * sizeof(*bin->entries);
}

size_t edge_accumulate_bytes(const struct edge_accumulate *accumulate)
{
	return bin_queue_bytes(&accumulate->queue);
}

static struct edge_bin *bin_create(struct edge_accumulate *accumulate, const struct edge_key *key)
{
	struct edge_bin *bin = (struct edge_bin *)bin_queue_create(&accumulate->queue,
								   index_key(key), sizeof(*bin));

	if (bin != NULL)
		bin->key = *key;
	return bin;
}

static struct profile_edge *edge_find(const struct edge_bin *bin, uint64_t from, uint64_t to)
{
	const uint64_t *slot = u64_map_find(&bin->index, hash(from, to));
	size_t number = slot != NULL ? (size_t)*slot : 0;

	while (number != 0) {
		struct entry *entry = &bin->entries[number - 1];

		if (entry->edge.from == from && entry->edge.to == to)
			return &entry->edge;
		number = entry->next;
	}
	return NULL;
}

static struct profile_edge *edge_create(struct edge_bin *bin, uint64_t from, uint64_t to)
{
	struct entry *entry;
	uint64_t *slot;

	if (array_reserve(&bin->entries, &bin->capacity, bin->count + 1, sizeof(*bin->entries)) < 0)
		return NULL;
	slot = u64_map_insert(&bin->index, hash(from, to));
	if (slot == NULL)
		return NULL;
	entry = &bin->entries[bin->count++];
	*entry = (struct entry){.edge = {.from = from, .to = to}, .next = (size_t)*slot};
	*slot = bin->count;
	return &entry->edge;
}

/* @bin: in: the edge's bin, or NULL; out: its bin, which may be new. */
static struct profile_edge *edge_add(struct edge_accumulate *accumulate, const struct edge_key *key,
				     struct edge_bin **bin, uint64_t from, uint64_t to)
{
	struct profile_edge *edge;
	size_t before;

	if (bin_queue_full(&accumulate->queue))
		return NULL;
	if (*bin == NULL)
		*bin = bin_create(accumulate, key);
	if (*bin == NULL)
		return NULL;
	before = bin_bytes(*bin);
	edge = edge_create(*bin, from, to);
	accumulate->queue.bytes += bin_bytes(*bin) - before;
	return edge;
}

int edge_accumulate_add(struct edge_accumulate *accumulate, const struct edge_key *key,
			uint64_t from, uint64_t to, uint64_t count)
{
	struct edge_bin *bin =
		(struct edge_bin *)bin_queue_find(&accumulate->queue, index_key(key));
	struct profile_edge *edge = bin != NULL ? edge_find(bin, from, to) : NULL;
	uint64_t edges = profile_edge_is_edge(key->kind) ? count : 0;

	if (edge == NULL)
		edge = edge_add(accumulate, key, &bin, from, to);
	if (edge == NULL)
		return bin_queue_refuse(&accumulate->queue, edges);
	edge->count += count;
	bin_queue_hold(&accumulate->queue, &bin->bin, edges);
	return 0;
}

uint64_t edge_accumulate_held(const struct edge_accumulate *accumulate)
{
	return accumulate->queue.held;
}

uint64_t edge_accumulate_refused(const struct edge_accumulate *accumulate)
{
	return accumulate->queue.refused;
}

size_t edge_accumulate_bins(const struct edge_accumulate *accumulate)
{
	return accumulate->queue.count;
}

const struct edge_bin *edge_accumulate_first(const struct edge_accumulate *accumulate)
{
	return (const struct edge_bin *)accumulate->queue.first;
}

void edge_accumulate_drop(struct edge_accumulate *accumulate, size_t bins)
{
	for (; bins > 0 && accumulate->queue.count > 0; bins--) {
		struct edge_bin *bin = (struct edge_bin *)accumulate->queue.first;

		bin_queue_drop(&accumulate->queue, bin_bytes(bin));
		u64_map_deinit(&bin->index);
		free(bin->entries);
		free(bin);
	}
}

const struct edge_bin *edge_accumulate_next(const struct edge_bin *bin)
{
	return (const struct edge_bin *)bin->bin.next;
}

struct edge_key edge_accumulate_bin_key(const struct edge_bin *bin)
{
	return bin->key;
}

uint64_t edge_accumulate_bin_held(const struct edge_bin *bin)
{
	return bin->bin.held;
}

static int by_edge(const void *a, const void *b)
{
	return profile_edge_compare(a, b);
}

int edge_accumulate_bin_edges(const struct edge_bin *bin, struct edge_run *ret)
{
	size_t i;

	if (array_reserve(&ret->edges, &ret->capacity, bin->count, sizeof(ret->edges[0])) < 0)
		return -ENOMEM;
	for (i = 0; i < bin->count; i++)
		ret->edges[i] = bin->entries[i].edge;
	ret->count = bin->count;
	if (ret->count > 1)
		qsort(ret->edges, ret->count, sizeof(ret->edges[0]), by_edge);
	return 0;
}
