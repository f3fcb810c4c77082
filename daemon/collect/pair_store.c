// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/pair_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/u64_map.h"

/* Each image keeps at least this number of pairs, which bounds the number of images. */
#define IMAGE_MIN 16

struct image_pairs {
	uint32_t image;
	uint64_t seen;
	struct stored_pair *pairs;
	size_t count;
	size_t capacity;
};

/* @index: image to position in @images, plus one */
struct pair_store {
	struct u64_map index;
	struct image_pairs *images;
	size_t image_count;
	size_t image_capacity;
	uint64_t random;
};

struct pair_store *pair_store_create(void)
{
	struct pair_store *store = calloc(1, sizeof(*store));

	if (store != NULL)
		store->random = 0x9e3779b97f4a7c15;
	return store;
}

void pair_store_clear(struct pair_store *store)
{
	for (size_t i = 0; i < store->image_count; i++)
		free(store->images[i].pairs);
	free(store->images);
	store->images = NULL;
	store->image_count = store->image_capacity = 0;
	u64_map_deinit(&store->index);
}

void pair_store_destroy(struct pair_store *store)
{
	if (store == NULL)
		return;
	pair_store_clear(store);
	free(store);
}

/* xorshift64 (Marsaglia 2003). The selection need not be unpredictable. */
static uint64_t random_below(struct pair_store *store, uint64_t bound)
{
	store->random ^= store->random << 13;
	store->random ^= store->random >> 7;
	store->random ^= store->random << 17;
	return store->random % bound;
}

/* Return: NULL if the image has no pairs. */
static struct image_pairs *image_get(const struct pair_store *store, uint32_t image)
{
	const uint64_t *found = u64_map_find(&store->index, image);

	return found != NULL ? &store->images[*found - 1] : NULL;
}

static struct image_pairs *image_find(struct pair_store *store, uint32_t image)
{
	struct image_pairs *found = image_get(store, image);
	uint64_t *slot;

	if (found != NULL)
		return found;
	if (store->image_count == PAIR_STORE_MAX / IMAGE_MIN)
		return NULL;
	if (array_reserve(&store->images, &store->image_capacity, store->image_count + 1,
			  sizeof(*store->images)) < 0)
		return NULL;
	slot = u64_map_insert(&store->index, image);
	if (slot == NULL)
		return NULL;
	store->images[store->image_count++] = (struct image_pairs){.image = image};
	*slot = store->image_count;
	return &store->images[store->image_count - 1];
}

/* The more images there are, the fewer pairs each of them keeps. */
static size_t image_limit(const struct pair_store *store)
{
	size_t limit = PAIR_STORE_MAX / store->image_count;

	if (limit > PAIR_STORE_IMAGE_MAX)
		limit = PAIR_STORE_IMAGE_MAX;
	return limit < IMAGE_MIN ? IMAGE_MIN : limit;
}

void pair_store_add(struct pair_store *store, uint32_t image, const struct stored_pair *pair)
{
	struct image_pairs *of = image_find(store, image);
	size_t limit;
	uint64_t at;

	if (of == NULL)
		return;
	of->seen++;
	limit = image_limit(store);
	while (of->count > limit) {
		at = random_below(store, of->count);
		of->pairs[at] = of->pairs[--of->count];
	}
	if (of->count < limit) {
		/* After a limit has shrunk, each pair is kept with the same probability again. */
		if (of->seen > of->count + 1 && random_below(store, of->seen) >= limit)
			return;
		if (array_reserve(&of->pairs, &of->capacity, of->count + 1, sizeof(*of->pairs)) ==
		    0)
			of->pairs[of->count++] = *pair;
		return;
	}
	at = random_below(store, of->seen);
	if (at < of->count)
		of->pairs[at] = *pair;
}

/* Keep @count random pairs. */
static void pairs_thin(struct pair_store *store, struct image_pairs *of, size_t count)
{
	while (of->count > count) {
		uint64_t at = random_below(store, of->count);

		of->pairs[at] = of->pairs[--of->count];
	}
}

/* Return: how many pairs of both are kept, if the part of @of that was selected is that of all. */
static size_t joint_count(const struct image_pairs *of, uint64_t seen)
{
	return of->seen > 0 ? (size_t)((double)of->count / (double)of->seen * (double)seen)
			    : SIZE_MAX;
}

int pair_store_join(struct pair_store *store, uint32_t image, uint32_t into)
{
	struct image_pairs *from = image_get(store, image), *to = image_get(store, into);
	size_t count, limit, own;
	uint64_t seen;

	if (from == NULL || to == NULL || from == to || from->count == 0)
		return 0;
	if (array_reserve(&to->pairs, &to->capacity, to->count + from->count, sizeof(*to->pairs)) <
	    0)
		return -ENOMEM;
	seen = from->seen + to->seen;
	limit = image_limit(store);
	count = joint_count(from, seen);
	if (joint_count(to, seen) < count)
		count = joint_count(to, seen);
	if (count > limit)
		count = limit;
	own = (size_t)((double)count * (double)to->seen / (double)seen + 0.5);
	pairs_thin(store, to, own);
	pairs_thin(store, from, count - own);
	memcpy(&to->pairs[to->count], from->pairs, from->count * sizeof(*from->pairs));
	to->count += from->count;
	to->seen = seen;
	from->count = 0;
	from->seen = 0;
	return 0;
}

size_t pair_store_bytes(const struct pair_store *store)
{
	size_t bytes = sizeof(*store) + u64_map_bytes(&store->index) +
		       store->image_capacity * sizeof(*store->images);

	for (size_t i = 0; i < store->image_count; i++)
		bytes += store->images[i].capacity * sizeof(*store->images[i].pairs);
	return bytes;
}

int pair_store_images(const struct pair_store *store,
		      int (*visit)(void *context, uint32_t image, const struct stored_pair *pairs,
				   size_t count, uint64_t seen),
		      void *context)
{
	int r = 0;

	for (size_t i = 0; i < store->image_count && r == 0; i++) {
		const struct image_pairs *of = &store->images[i];

		if (of->count > 0)
			r = visit(context, of->image, of->pairs, of->count, of->seen);
	}
	return r;
}
