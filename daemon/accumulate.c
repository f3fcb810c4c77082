// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/accumulate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/error.h"
#include "lib/u64_map.h"

struct accumulate_bin {
	struct accumulate_key key;
	char command[ACCUMULATE_COMMAND_BYTES];
	struct u64_map offsets;
	uint64_t held;
	struct accumulate_bin *next;
};

/*
 * @index: key to bin, as a pointer
 * @last:  of the last call: samples come in runs of one profile
 * @bytes: of all bins and their maps
 */
struct accumulate {
	struct u64_map index;
	struct accumulate_bin *first;
	struct accumulate_bin *youngest;
	struct accumulate_bin *last;
	size_t bins;
	size_t bytes;
	size_t memory_limit;
	uint64_t held;
	uint64_t refused;
};

int accumulate_create(struct accumulate **ret, size_t memory_limit, struct error *err)
{
	struct accumulate *accumulate = calloc(1, sizeof(*accumulate));

	if (accumulate == NULL)
		return error_set(err, ENOMEM, "out of memory");
	accumulate->memory_limit = memory_limit;
	*ret = accumulate;
	return 0;
}

void accumulate_destroy(struct accumulate *accumulate)
{
	if (accumulate == NULL)
		return;
	accumulate_drop(accumulate, accumulate->bins);
	u64_map_deinit(&accumulate->index);
	free(accumulate);
}

/* 32 bits of image, 8 of event, 22 of process, one for "all processes". */
static uint64_t index_key(const struct accumulate_key *key)
{
	uint64_t pid = key->pid < 0 ? 1ULL << 22 : (uint64_t)key->pid & 0x3fffff;

	return (uint64_t)key->image << 31 | (uint64_t)(key->event & 0xff) << 23 | pid;
}

static bool key_equal(const struct accumulate_key *a, const struct accumulate_key *b)
{
	return a->image == b->image && a->event == b->event && a->pid == b->pid;
}

size_t accumulate_bytes(const struct accumulate *accumulate)
{
	return accumulate->bytes + u64_map_bytes(&accumulate->index);
}

static struct accumulate_bin *bin_create(struct accumulate *accumulate,
					 const struct accumulate_key *key, const char *command)
{
	struct accumulate_bin *bin = calloc(1, sizeof(*bin));
	uint64_t *slot;

	if (bin == NULL)
		return NULL;
	slot = u64_map_insert(&accumulate->index, index_key(key));
	if (slot == NULL) {
		free(bin);
		return NULL;
	}
	*slot = (uint64_t)(uintptr_t)bin;
	bin->key = *key;
	if (command != NULL)
		snprintf(bin->command, sizeof(bin->command), "%s", command);
	if (accumulate->youngest != NULL)
		accumulate->youngest->next = bin;
	else
		accumulate->first = bin;
	accumulate->youngest = bin;
	accumulate->bins++;
	accumulate->bytes += sizeof(*bin);
	return bin;
}

static uint64_t *entry_create(struct accumulate *accumulate, struct accumulate_bin *bin,
			      uint64_t offset)
{
	size_t before = u64_map_bytes(&bin->offsets);
	uint64_t *entry = u64_map_insert(&bin->offsets, offset);

	accumulate->bytes += u64_map_bytes(&bin->offsets) - before;
	return entry;
}

static struct accumulate_bin *bin_find(struct accumulate *accumulate,
				       const struct accumulate_key *key)
{
	const uint64_t *slot;

	if (accumulate->last != NULL && key_equal(&accumulate->last->key, key))
		return accumulate->last;
	slot = u64_map_find(&accumulate->index, index_key(key));
	return slot != NULL ? (struct accumulate_bin *)(uintptr_t)*slot : NULL;
}

static uint64_t *entry_of(struct accumulate *accumulate, const struct accumulate_key *key,
			  const char *command, uint64_t offset)
{
	struct accumulate_bin *bin = bin_find(accumulate, key);
	uint64_t *entry = bin != NULL ? u64_map_find(&bin->offsets, offset) : NULL;

	if (entry == NULL) {
		if (accumulate_bytes(accumulate) >= accumulate->memory_limit)
			return NULL;
		if (bin == NULL)
			bin = bin_create(accumulate, key, command);
		entry = bin != NULL ? entry_create(accumulate, bin, offset) : NULL;
	}
	accumulate->last = bin;
	return entry;
}

int accumulate_add(struct accumulate *accumulate, const struct accumulate_key *key,
		   const char *command, uint64_t offset, uint32_t count)
{
	uint64_t *entry = entry_of(accumulate, key, command, offset);

	if (entry == NULL) {
		accumulate->refused += count;
		return -ENOMEM;
	}
	*entry += count;
	accumulate->last->held += count;
	accumulate->held += count;
	return 0;
}

uint64_t accumulate_held(const struct accumulate *accumulate)
{
	return accumulate->held;
}

uint64_t accumulate_refused(const struct accumulate *accumulate)
{
	return accumulate->refused;
}

size_t accumulate_bins(const struct accumulate *accumulate)
{
	return accumulate->bins;
}

const struct accumulate_bin *accumulate_first(const struct accumulate *accumulate)
{
	return accumulate->first;
}

const struct accumulate_bin *accumulate_next(const struct accumulate_bin *bin)
{
	return bin->next;
}

struct accumulate_key accumulate_bin_key(const struct accumulate_bin *bin)
{
	return bin->key;
}

const char *accumulate_bin_command(const struct accumulate_bin *bin)
{
	return bin->command;
}

uint64_t accumulate_bin_held(const struct accumulate_bin *bin)
{
	return bin->held;
}

static int by_offset(const void *a, const void *b)
{
	const struct profile_sample *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

int accumulate_bin_samples(const struct accumulate_bin *bin, struct accumulate_samples *ret)
{
	size_t cursor = 0;
	uint64_t offset, count;
	int rc;

	rc = array_reserve(&ret->samples, &ret->capacity, u64_map_count(&bin->offsets),
			   sizeof(ret->samples[0]));
	if (rc < 0)
		return rc;
	ret->count = 0;
	while (u64_map_next(&bin->offsets, &cursor, &offset, &count)) {
		ret->samples[ret->count++] =
			(struct profile_sample){.offset = offset, .count = count};
	}
	if (ret->count > 1)
		qsort(ret->samples, ret->count, sizeof(ret->samples[0]), by_offset);
	return 0;
}

void accumulate_drop(struct accumulate *accumulate, size_t bins)
{
	for (; bins > 0 && accumulate->first != NULL; bins--) {
		struct accumulate_bin *bin = accumulate->first;

		accumulate->first = bin->next;
		if (accumulate->first == NULL)
			accumulate->youngest = NULL;
		u64_map_remove(&accumulate->index, index_key(&bin->key));
		accumulate->bytes -= sizeof(*bin) + u64_map_bytes(&bin->offsets);
		accumulate->held -= bin->held;
		accumulate->bins--;
		u64_map_deinit(&bin->offsets);
		free(bin);
	}
	if (accumulate->bins == 0)
		u64_map_deinit(&accumulate->index);
	accumulate->last = NULL;
}
