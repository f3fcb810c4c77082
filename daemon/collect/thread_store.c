// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/thread_store.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "lib/array.h"
#include "lib/u64_map.h"

/* @index: hash of a key to the index of its row, plus 1 */
struct thread_store {
	size_t max;
	struct thread_total *rows;
	size_t count;
	size_t capacity;
	struct u64_map index;
	uint64_t refused;
};

struct thread_store *thread_store_create(size_t max)
{
	struct thread_store *store = calloc(1, sizeof(*store));

	if (store != NULL)
		store->max = max;
	return store;
}

void thread_store_clear(struct thread_store *store)
{
	store->count = 0;
	u64_map_deinit(&store->index);
}

void thread_store_destroy(struct thread_store *store)
{
	if (store == NULL)
		return;
	thread_store_clear(store);
	free(store->rows);
	free(store);
}

/* The bytes after the end of a name are zero: keys are hashed and compared as a whole. */
struct thread_key thread_key_make(uint32_t pid, uint32_t tid, const char *command,
				  const char *thread)
{
	struct thread_key key = {.pid = pid, .tid = tid};

	memcpy(key.command, command, strnlen(command, sizeof(key.command) - 1));
	memcpy(key.thread, thread, strnlen(thread, sizeof(key.thread) - 1));
	return key;
}

/* Return: 0 or -ENOMEM. */
static int thread_add(struct thread_store *store, const struct thread_total *more)
{
	uint64_t hash = XXH3_64bits(&more->key, sizeof(more->key)), *slot;
	struct thread_total *row;

	do {
		slot = u64_map_insert(&store->index, hash++);
	} while (slot != NULL && *slot != 0 &&
		 memcmp(&store->rows[*slot - 1].key, &more->key, sizeof(more->key)) != 0);
	if (slot == NULL)
		return -ENOMEM;
	if (*slot == 0) {
		if (array_reserve(&store->rows, &store->capacity, store->count + 1,
				  sizeof(*store->rows)) < 0)
			return -ENOMEM;
		store->rows[store->count++] = (struct thread_total){.key = more->key};
		*slot = store->count;
	}
	row = &store->rows[*slot - 1];
	row->stacks += more->stacks;
	row->off_cpu_ns += more->off_cpu_ns;
	return 0;
}

static int by_amount(const void *a, const void *b)
{
	const struct thread_total *x = a, *y = b;

	if (x->stacks != y->stacks)
		return x->stacks > y->stacks ? -1 : 1;
	return (x->off_cpu_ns < y->off_cpu_ns) - (x->off_cpu_ns > y->off_cpu_ns);
}

/* Keep the largest half of the rows, and add the others to rows with names only, or with none. */
static void rows_combine(struct thread_store *store, bool has_names)
{
	const struct thread_key other =
		thread_key_make(0, 0, THREAD_STORE_OTHER, THREAD_STORE_OTHER);
	struct thread_total *old = store->rows;
	size_t count = store->count;

	qsort(old, count, sizeof(*old), by_amount);
	store->rows = NULL;
	store->capacity = 0;
	thread_store_clear(store);
	for (size_t i = 0; i < count; i++) {
		struct thread_total row = old[i];

		if (i >= store->max / 2 && has_names)
			row.key.pid = row.key.tid = 0;
		else if (i >= store->max / 2)
			row.key = other;
		if (thread_add(store, &row) < 0)
			store->refused += row.stacks;
	}
	free(old);
}

void thread_store_add(struct thread_store *store, const struct thread_key *key, uint64_t stacks,
		      uint64_t off_cpu_ns)
{
	const struct thread_total more = {*key, stacks, off_cpu_ns};

	if (store->count >= store->max) {
		rows_combine(store, true);
		/* Many names: few rows became free. */
		if (store->count > store->max - store->max / 8)
			rows_combine(store, false);
	}
	if (thread_add(store, &more) < 0)
		store->refused += stacks;
}

const struct thread_total *thread_store_rows(const struct thread_store *store, size_t *count)
{
	*count = store->count;
	return store->rows;
}

uint64_t thread_store_refused(const struct thread_store *store)
{
	return store->refused;
}

size_t thread_store_bytes(const struct thread_store *store)
{
	return sizeof(*store) + store->capacity * sizeof(*store->rows) +
	       u64_map_bytes(&store->index);
}
