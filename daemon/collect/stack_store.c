// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/stack_store.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/u64_map.h"

#define NODE_REMOVED UINT32_MAX

/*
 * @index:      hash of a node to its number
 * @image_seen: image to 1, for @images
 */
struct stack_store {
	uint32_t nodes_max;
	struct stack_store_node *nodes;
	size_t count;
	size_t capacity;
	struct u64_map index;
	struct u64_map image_seen;
	uint32_t *images;
	size_t image_count;
	size_t image_capacity;
	struct stack_store_counts counts;
};

struct stack_store *stack_store_create(uint32_t nodes_max)
{
	struct stack_store *store = calloc(1, sizeof(*store));

	if (store != NULL)
		store->nodes_max = nodes_max;
	return store;
}

void stack_store_clear(struct stack_store *store)
{
	store->count = store->image_count = 0;
	u64_map_deinit(&store->index);
	u64_map_deinit(&store->image_seen);
	store->counts.stacks = store->counts.weight = 0;
}

void stack_store_destroy(struct stack_store *store)
{
	if (store == NULL)
		return;
	stack_store_clear(store);
	free(store->nodes);
	free(store->images);
	free(store);
}

/* The finalizer of splitmix64. */
static uint64_t stack_store_mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t node_hash(uint32_t parent, const struct stack_frame *frame)
{
	return stack_store_mix(stack_store_mix(frame->offset + UINT64_C(0x9e3779b97f4a7c15)) ^
			       ((uint64_t)parent << 32 | frame->image));
}

static bool node_is(const struct stack_store_node *node, uint32_t parent,
		    const struct stack_frame *frame)
{
	return node->parent == parent && node->frame.image == frame->image &&
	       node->frame.offset == frame->offset;
}

/* Return: where the number of a node is or belongs; 0 there: it does not exist. NULL: no memory. */
static uint64_t *node_slot(struct stack_store *store, uint32_t parent,
			   const struct stack_frame *frame)
{
	uint64_t hash = node_hash(parent, frame);
	uint64_t *slot;

	for (;; hash++) {
		slot = u64_map_insert(&store->index, hash);
		if (slot == NULL || *slot == 0 || node_is(&store->nodes[*slot], parent, frame))
			return slot;
	}
}

static int image_note(struct stack_store *store, uint32_t image)
{
	uint64_t *seen = u64_map_insert(&store->image_seen, image);

	if (seen == NULL)
		return -ENOMEM;
	if (*seen != 0)
		return 0;
	if (array_reserve(&store->images, &store->image_capacity, store->image_count + 1,
			  sizeof(*store->images)) < 0)
		return -ENOMEM;
	store->images[store->image_count++] = image;
	*seen = 1;
	return 0;
}

static int nodes_reserve(struct stack_store *store)
{
	int r = array_reserve(&store->nodes, &store->capacity, store->count + 2,
			      sizeof(*store->nodes));

	if (r == 0 && store->count == 0)
		store->nodes[store->count++] = (struct stack_store_node){.parent = 0};
	return r;
}

/* Return: the number of a child; 0: no memory. */
static uint32_t child_of(struct stack_store *store, uint32_t parent,
			 const struct stack_frame *frame)
{
	uint64_t *slot;

	if (nodes_reserve(store) < 0 || image_note(store, frame->image) < 0)
		return 0;
	slot = node_slot(store, parent, frame);
	if (slot == NULL)
		return 0;
	if (*slot == 0) {
		store->nodes[store->count] =
			(struct stack_store_node){.frame = *frame, .parent = parent};
		*slot = store->count++;
	}
	return (uint32_t)*slot;
}

static void amount_add(struct stack_store_node *node, struct stack_store_amount amount)
{
	uint64_t stacks = (uint64_t)node->stacks + amount.stacks;

	node->stacks = stacks < UINT32_MAX ? (uint32_t)stacks : UINT32_MAX;
	node->weight += amount.weight;
}

static int totals_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

/*
 * Choose the nodes to remove: those with the smallest totals, and newer ones first. A child's
 * total is at most its parent's, and its number is higher, so all children are removed first.
 * @kept: out: NODE_REMOVED for each of these, 0 for the others
 */
static void nodes_choose(const struct stack_store *store, const uint64_t *totals, uint64_t *sorted,
			 uint32_t *kept)
{
	size_t excess = store->count - store->nodes_max / 2;
	uint64_t threshold;

	memcpy(sorted, totals, store->count * sizeof(*totals));
	qsort(sorted, store->count, sizeof(*sorted), totals_compare);
	threshold = sorted[store->nodes_max / 2];
	for (size_t i = 1; i < store->count; i++) {
		kept[i] = totals[i] < threshold ? NODE_REMOVED : 0;
		excess -= totals[i] < threshold;
	}
	for (size_t i = store->count; i-- > 1 && excess > 0;) {
		if (totals[i] == threshold) {
			kept[i] = NODE_REMOVED;
			excess--;
		}
	}
}

/* @kept: out: for each node, the new number of the node that has its weight now */
static void nodes_merge(struct stack_store *store, uint32_t *kept)
{
	size_t count = 1;

	for (size_t i = 1; i < store->count; i++) {
		struct stack_store_node node = store->nodes[i];
		uint32_t parent = kept[node.parent];

		if (kept[i] == NODE_REMOVED) {
			kept[i] = parent;
			amount_add(&store->nodes[parent],
				   (struct stack_store_amount){node.stacks, node.weight});
			store->counts.pruned += node.weight;
			continue;
		}
		node.parent = parent;
		kept[i] = (uint32_t)count;
		store->nodes[count++] = node;
	}
	store->count = count;
}

static int index_renew(struct stack_store *store)
{
	u64_map_deinit(&store->index);
	for (size_t i = 1; i < store->count; i++) {
		uint64_t *slot = node_slot(store, store->nodes[i].parent, &store->nodes[i].frame);

		if (slot == NULL)
			return -ENOMEM;
		*slot = i;
	}
	return 0;
}

/* Return: 0, or -ENOMEM: then the tree is empty, and its stacks are counted as refused. */
static int prune(struct stack_store *store)
{
	_cleanup_free_ uint64_t *totals = calloc(2 * store->count, sizeof(*totals));
	_cleanup_free_ uint32_t *kept = calloc(store->count, sizeof(*kept));

	if (totals == NULL || kept == NULL)
		return -ENOMEM;
	for (size_t i = store->count; i-- > 1;) {
		totals[i] += store->nodes[i].weight;
		totals[store->nodes[i].parent] += totals[i];
	}
	totals[0] = UINT64_MAX;
	nodes_choose(store, totals, totals + store->count, kept);
	nodes_merge(store, kept);
	if (index_renew(store) == 0)
		return 0;
	store->counts.refused += store->counts.stacks;
	store->counts.refused_weight += store->counts.weight;
	store->counts.stacks = store->counts.weight = 0;
	store->count = 0;
	u64_map_deinit(&store->index);
	return -ENOMEM;
}

/* Return: the number of the innermost node; 0: no memory, or no frames. */
static uint32_t stack_node(struct stack_store *store, const struct stack_frame *frames,
			   size_t count)
{
	uint32_t node = 0;

	if (store->count + count > store->nodes_max && store->count > store->nodes_max / 2 &&
	    prune(store) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		node = child_of(store, node, &frames[i]);
		if (node == 0)
			return 0;
	}
	return node;
}

void stack_store_add(struct stack_store *store, const struct stack_frame *frames, size_t count,
		     struct stack_store_amount amount)
{
	struct stack_store_counts *counts = &store->counts;
	uint32_t node = stack_node(store, frames, count);

	if (node == 0 && count > 0) {
		counts->refused += amount.stacks;
		counts->refused_weight += amount.weight;
		return;
	}
	counts->stacks += amount.stacks;
	counts->weight += amount.weight;
	if (count > 0)
		amount_add(&store->nodes[node], amount);
}

const struct stack_store_node *stack_store_nodes(const struct stack_store *store, uint32_t *count)
{
	*count = (uint32_t)store->count;
	return store->nodes;
}

const uint32_t *stack_store_images(const struct stack_store *store, size_t *count)
{
	*count = store->image_count;
	return store->images;
}

struct stack_store_counts stack_store_counts(const struct stack_store *store)
{
	return store->counts;
}

size_t stack_store_bytes(const struct stack_store *store)
{
	return sizeof(*store) + store->capacity * sizeof(*store->nodes) +
	       store->image_capacity * sizeof(*store->images) + u64_map_bytes(&store->index) +
	       u64_map_bytes(&store->image_seen);
}
