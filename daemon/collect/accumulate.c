// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/accumulate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/error.h"

int accumulate_create(struct accumulate **ret, size_t memory_limit, struct error *err)
{
	struct accumulate *accumulate = calloc(1, sizeof(*accumulate));

	if (accumulate == NULL)
		return error_set(err, ENOMEM, "out of memory");
	accumulate->queue.memory_limit = memory_limit;
	*ret = accumulate;
	return 0;
}

void accumulate_destroy(struct accumulate *accumulate)
{
	if (accumulate == NULL)
		return;
	accumulate_drop(accumulate, accumulate->queue.count);
	free(accumulate);
}

/* 32 bits of image, 8 of event, 22 of process or label, and one that distinguishes these two. */
static uint64_t index_key(const struct accumulate_key *key)
{
	uint64_t pid = key->pid < 0 ? 1ULL << 22 | ((uint64_t)(-1 - key->pid) & 0x3fffff)
				    : (uint64_t)key->pid & 0x3fffff;

	return (uint64_t)key->image << 31 | (uint64_t)(key->event & 0xff) << 23 | pid;
}

size_t accumulate_bytes(const struct accumulate *accumulate)
{
	return bin_queue_bytes(&accumulate->queue);
}

static struct accumulate_bin *bin_create(struct accumulate *accumulate, uint64_t index,
					 const struct accumulate_key *key, const char *command)
{
	struct offset_counts offsets;
	struct accumulate_bin *bin;

	if (bin_queue_full(&accumulate->queue) || offset_counts_init(&offsets) < 0)
		return NULL;
	bin = (struct accumulate_bin *)bin_queue_create(&accumulate->queue, index, sizeof(*bin));
	if (bin == NULL) {
		offset_counts_deinit(&offsets);
		return NULL;
	}
	bin->offsets = offsets;
	accumulate->queue.bytes += offset_counts_bytes(&offsets);
	bin->key = *key;
	if (command != NULL)
		snprintf(bin->command, sizeof(bin->command), "%s", command);
	return bin;
}

struct accumulate_bin *accumulate_bin(struct accumulate *accumulate,
				      const struct accumulate_key *key, const char *command)
{
	uint64_t index = index_key(key);
	struct accumulate_bin *bin =
		(struct accumulate_bin *)bin_queue_find(&accumulate->queue, index);

	return bin != NULL ? bin : bin_create(accumulate, index, key, command);
}

static bool bin_grow(struct accumulate *accumulate, struct accumulate_bin *bin)
{
	size_t before = offset_counts_bytes(&bin->offsets);

	if (bin_queue_full(&accumulate->queue) || offset_counts_grow(&bin->offsets) < 0)
		return false;
	accumulate->queue.bytes += offset_counts_bytes(&bin->offsets) - before;
	return true;
}

/* Return the index of a label in its bin's array, or the index at which to insert it. */
static size_t label_place(const struct accumulate_bin *bin, uint32_t label)
{
	size_t low = 0, high = bin->label_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (bin->labels[middle].label < label)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool label_insert(struct accumulate *accumulate, struct accumulate_bin *bin, size_t place,
			 uint32_t label)
{
	size_t before = bin->label_capacity;

	if (bin->label_count == bin->label_capacity && bin_queue_full(&accumulate->queue))
		return false;
	if (array_reserve(&bin->labels, &bin->label_capacity, bin->label_count + 1,
			  sizeof(bin->labels[0])) < 0)
		return false;
	accumulate->queue.bytes += (bin->label_capacity - before) * sizeof(bin->labels[0]);
	memmove(&bin->labels[place + 1], &bin->labels[place],
		(bin->label_count - place) * sizeof(bin->labels[0]));
	bin->labels[place] = (struct accumulate_label){.label = label};
	bin->label_count++;
	return true;
}

void accumulate_add_label(struct accumulate *accumulate, struct accumulate_bin *bin, uint32_t label,
			  uint32_t count)
{
	size_t place = label_place(bin, label);

	if ((place == bin->label_count || bin->labels[place].label != label) &&
	    !label_insert(accumulate, bin, place, label))
		return;
	bin->label = place;
	bin->labels[place].samples += count;
}

bool accumulate_add_offset(struct accumulate *accumulate, struct accumulate_bin *bin,
			   uint64_t offset, uint32_t count)
{
	return offset_counts_append(&bin->offsets, offset, count) ||
	       (bin_grow(accumulate, bin) && offset_counts_append(&bin->offsets, offset, count));
}

uint64_t accumulate_held(const struct accumulate *accumulate)
{
	return accumulate->queue.held;
}

uint64_t accumulate_refused(const struct accumulate *accumulate)
{
	return accumulate->queue.refused;
}

size_t accumulate_bins(const struct accumulate *accumulate)
{
	return accumulate->queue.count;
}

struct accumulate_bin *accumulate_first(const struct accumulate *accumulate)
{
	return (struct accumulate_bin *)accumulate->queue.first;
}

struct accumulate_bin *accumulate_next(const struct accumulate_bin *bin)
{
	return (struct accumulate_bin *)bin->bin.next;
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
	return bin->bin.held;
}

const struct accumulate_label *accumulate_bin_labels(const struct accumulate_bin *bin,
						     size_t *count)
{
	*count = bin->label_count;
	return bin->labels;
}

int accumulate_bin_samples(struct accumulate *accumulate, struct accumulate_bin *bin,
			   const struct profile_sample **samples, size_t *count)
{
	size_t before = accumulate->scratch.capacity;
	int rc = offset_counts_sort(&bin->offsets, &accumulate->scratch, samples);

	accumulate->queue.bytes +=
		(accumulate->scratch.capacity - before) * sizeof(*accumulate->scratch.samples);
	*count = bin->offsets.count;
	return rc;
}

/* Without bins no memory is in use. */
static void scratch_free(struct accumulate *accumulate)
{
	accumulate->queue.bytes -=
		accumulate->scratch.capacity * sizeof(*accumulate->scratch.samples);
	free(accumulate->scratch.samples);
	accumulate->scratch = (struct offset_scratch){.samples = NULL};
}

void accumulate_drop(struct accumulate *accumulate, size_t bins)
{
	for (; bins > 0 && accumulate->queue.count > 0; bins--) {
		struct accumulate_bin *bin = accumulate_first(accumulate);

		bin_queue_drop(&accumulate->queue,
			       sizeof(*bin) + offset_counts_bytes(&bin->offsets) +
				       bin->label_capacity * sizeof(bin->labels[0]));
		offset_counts_deinit(&bin->offsets);
		free(bin->labels);
		free(bin);
	}
	if (accumulate->queue.count == 0)
		scratch_free(accumulate);
}
