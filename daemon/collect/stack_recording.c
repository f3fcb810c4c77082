// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/stack_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/collect/stack_store.h"
#include "daemon/unwind/unwind_step.h"
#include "lib/array.h"

_Static_assert((int)PROFILE_STACK_ENDS == (int)UNWIND_ENDS, "the same reasons");
_Static_assert((int)PROFILE_STACK_DAMAGED == (int)UNWIND_END_DAMAGED, "in the same order");

static int by_image(const void *a, const void *b, void *context)
{
	const struct stack_store_node *nodes = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (nodes[x].frame.image != nodes[y].frame.image)
		return nodes[x].frame.image < nodes[y].frame.image ? -1 : 1;
	return (x > y) - (x < y);
}

int stack_recording_sort(struct stack_recording *ret, const struct stack_store *stacks)
{
	const struct stack_store_node *nodes;
	uint32_t count;

	nodes = stack_store_nodes(stacks, &count);
	ret->order_count = 0;
	if (array_reserve(&ret->order, &ret->order_capacity, (size_t)count + 1,
			  sizeof(*ret->order)) < 0)
		return -ENOMEM;
	/* The root is in no image. */
	for (uint32_t i = 1; i < count; i++)
		ret->order[ret->order_count++] = i;
	if (ret->order_count > 0)
		qsort_r(ret->order, ret->order_count, sizeof(*ret->order), by_image,
			(void *)(uintptr_t)nodes);
	return 0;
}

/* Return: the first node of an image, or of the next one, in the order. */
static size_t image_find(const struct stack_recording *recording,
			 const struct stack_store_node *nodes, uint32_t image)
{
	size_t begin = 0, end = recording->order_count;

	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;

		if (nodes[recording->order[middle]].frame.image < image)
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

int stack_recording_make(struct stack_recording *ret, const struct stack_store *stacks,
			 uint32_t image, uint32_t every)
{
	const struct stack_store_node *nodes;
	size_t first, rows = 0;
	uint32_t count;

	nodes = stack_store_nodes(stacks, &count);
	first = image_find(ret, nodes, image);
	for (size_t i = first; i < ret->order_count; i++) {
		uint32_t number = ret->order[i];
		uint64_t *row;

		if (nodes[number].frame.image != image)
			break;
		if (array_reserve(&ret->rows, &ret->row_capacity,
				  (rows + 1) * PROFILE_STACK_COLUMNS, sizeof(*ret->rows)) < 0)
			return -ENOMEM;
		row = &ret->rows[rows++ * PROFILE_STACK_COLUMNS];
		row[PROFILE_STACK_NODE] = number;
		row[PROFILE_STACK_PARENT] = nodes[number].parent;
		row[PROFILE_STACK_OFFSET] = nodes[number].frame.offset;
		row[PROFILE_STACK_STACKS] = nodes[number].weight;
	}
	memset(ret->head, 0, sizeof(ret->head));
	ret->head[PROFILE_STACKS_EVERY] = every;
	ret->recording = (struct profile_recording){
		.mode = PROFILE_RECORDING_STACKS,
		.metric = "",
		.tables = {{PROFILE_STACKS_HEAD_COLUMNS, 1, ret->head},
			   {PROFILE_STACK_COLUMNS, rows, ret->rows}},
		.table_count = PROFILE_STACKS_TABLES,
	};
	return 0;
}

void stack_recording_deinit(struct stack_recording *recording)
{
	free(recording->rows);
	free(recording->order);
	*recording = (struct stack_recording){.order_count = 0};
}
