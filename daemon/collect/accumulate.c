// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/accumulate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/partition_point.h"

int accumulate_create(struct accumulate **ret, size_t memory_limit, struct error *err)
{
	struct accumulate *accumulate = calloc(1, sizeof(*accumulate));

	if (accumulate == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
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
	bin->part.offsets = offsets;
	bin->part.slice = accumulate->slice;
	bin->oldest = &bin->part;
	accumulate->queue.bytes += offset_counts_bytes(&offsets);
	bin->key = *key;
	if (command != NULL)
		snprintf(bin->command, sizeof(bin->command), "%s", command);
	return bin;
}

uint32_t accumulate_slice(struct accumulate *accumulate)
{
	return ++accumulate->slice;
}

uint32_t accumulate_slice_now(const struct accumulate *accumulate)
{
	return accumulate->slice;
}

static uint64_t held_before(const struct accumulate_bin *bin)
{
	uint64_t held = 0;

	for (const struct accumulate_part *part = bin->oldest; part != &bin->part;
	     part = part->next)
		held += part->held;
	return held;
}

/* Begin a part for the current slice. Return: false over the limit or out of memory. */
static bool bin_divide(struct accumulate *accumulate, struct accumulate_bin *bin)
{
	struct accumulate_part *last, **link = &bin->oldest;
	struct offset_counts offsets;

	if (bin_queue_full(&accumulate->queue) || offset_counts_init(&offsets) < 0)
		return false;
	last = malloc(sizeof(*last));
	if (last == NULL) {
		offset_counts_deinit(&offsets);
		return false;
	}
	*last = bin->part;
	last->held = bin->bin.held - held_before(bin);
	last->next = &bin->part;
	while (*link != &bin->part)
		link = &(*link)->next;
	*link = last;
	bin->part = (struct accumulate_part){.slice = accumulate->slice, .offsets = offsets};
	accumulate->queue.bytes += sizeof(*last) + offset_counts_bytes(&offsets);
	return true;
}

struct accumulate_bin *accumulate_bin(struct accumulate *accumulate,
				      const struct accumulate_key *key, const char *command)
{
	uint64_t index = index_key(key);
	struct accumulate_bin *bin =
		(struct accumulate_bin *)bin_queue_find(&accumulate->queue, index);

	if (bin == NULL)
		return bin_create(accumulate, index, key, command);
	return bin->part.slice == accumulate->slice || bin_divide(accumulate, bin) ? bin : NULL;
}

static bool part_grow(struct accumulate *accumulate, struct accumulate_part *part)
{
	size_t before = offset_counts_bytes(&part->offsets);

	if (bin_queue_full(&accumulate->queue) || offset_counts_grow(&part->offsets) < 0)
		return false;
	accumulate->queue.bytes += offset_counts_bytes(&part->offsets) - before;
	return true;
}

/* Return the index of a label in its part's array, or the index at which to insert it. */
static size_t label_place(const struct accumulate_part *part, uint32_t label)
{
	return partition_point(0, part->label_count, i, part->labels[i].label < label);
}

static bool label_insert(struct accumulate *accumulate, struct accumulate_part *part, size_t place,
			 uint32_t label)
{
	size_t before = part->label_capacity;

	if (part->label_count == part->label_capacity && bin_queue_full(&accumulate->queue))
		return false;
	if (array_reserve(&part->labels, &part->label_capacity, part->label_count + 1,
			  sizeof(part->labels[0])) < 0)
		return false;
	accumulate->queue.bytes += (part->label_capacity - before) * sizeof(part->labels[0]);
	memmove(&part->labels[place + 1], &part->labels[place],
		(part->label_count - place) * sizeof(part->labels[0]));
	part->labels[place] = (struct accumulate_label){.label = label};
	part->label_count++;
	return true;
}

void accumulate_add_label(struct accumulate *accumulate, struct accumulate_bin *bin, uint32_t label,
			  uint32_t count)
{
	struct accumulate_part *part = &bin->part;
	size_t place = label_place(part, label);

	if ((place == part->label_count || part->labels[place].label != label) &&
	    !label_insert(accumulate, part, place, label))
		return;
	part->label = place;
	part->labels[place].samples += count;
}

bool accumulate_add_offset(struct accumulate *accumulate, struct accumulate_bin *bin,
			   uint64_t offset, uint32_t count)
{
	struct offset_counts *offsets = &bin->part.offsets;

	return offset_counts_append(offsets, offset, count) ||
	       (part_grow(accumulate, &bin->part) && offset_counts_append(offsets, offset, count));
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

const struct accumulate_part *accumulate_bin_oldest(const struct accumulate_bin *bin)
{
	return bin->oldest;
}

const struct accumulate_part *accumulate_part_next(const struct accumulate_part *part)
{
	return part->next;
}

uint32_t accumulate_part_slice(const struct accumulate_part *part)
{
	return part->slice;
}

uint64_t accumulate_part_held(const struct accumulate_bin *bin, const struct accumulate_part *part)
{
	return part != &bin->part ? part->held : bin->bin.held - held_before(bin);
}

const struct accumulate_label *accumulate_part_labels(const struct accumulate_part *part,
						      size_t *count)
{
	*count = part->label_count;
	return part->labels;
}

int accumulate_part_samples(struct accumulate *accumulate, const struct accumulate_part *part,
			    const struct profile_sample **samples, size_t *count)
{
	size_t before = accumulate->scratch.capacity;
	int rc = offset_counts_sort(&part->offsets, &accumulate->scratch, samples);

	accumulate->queue.bytes +=
		(accumulate->scratch.capacity - before) * sizeof(*accumulate->scratch.samples);
	*count = part->offsets.count;
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

static size_t part_bytes(const struct accumulate_part *part)
{
	return offset_counts_bytes(&part->offsets) + part->label_capacity * sizeof(part->labels[0]);
}

/* Free the contents of all parts. Return: their bytes. */
static size_t parts_free(struct accumulate_bin *bin)
{
	size_t bytes = 0;

	for (struct accumulate_part *part = bin->oldest, *next; part != NULL; part = next) {
		next = part->next;
		bytes += part_bytes(part);
		offset_counts_deinit(&part->offsets);
		free(part->labels);
		if (part != &bin->part) {
			bytes += sizeof(*part);
			free(part);
		}
	}
	return bytes;
}

void accumulate_drop(struct accumulate *accumulate, size_t bins)
{
	for (; bins > 0 && accumulate->queue.count > 0; bins--) {
		struct accumulate_bin *bin = accumulate_first(accumulate);

		bin_queue_drop(&accumulate->queue, sizeof(*bin) + parts_free(bin));
		free(bin);
	}
	if (accumulate->queue.count == 0)
		scratch_free(accumulate);
}
