// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/stack_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/collect/stack_store.h"
#include "daemon/source/bpf/off_cpu.h"
#include "daemon/unwind/unwind_step.h"
#include "lib/array.h"

_Static_assert((int)PROFILE_STACK_ENDS == (int)UNWIND_ENDS, "the same reasons");
_Static_assert((int)PROFILE_OFF_CPU_STATES == (int)OFF_CPU_STATES, "the same states");
_Static_assert(PROFILE_OFF_CPU_BLOCKED - PROFILE_OFF_CPU_RUNNABLE == (int)OFF_CPU_BLOCKED,
	       "in the same order");
_Static_assert((int)PROFILE_STACK_DAMAGED == (int)UNWIND_END_DAMAGED, "in the same order");

/*
 * struct stack_recording_node - a node of the tree
 * @id:     number of its image in the database
 * @number: in the store
 */
struct stack_recording_node {
	int64_t id;
	uint32_t number;
};

static int by_image(const void *a, const void *b)
{
	const struct stack_recording_node *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

int stack_recording_begin(struct stack_recording *ret, const struct stack_store *stacks,
			  const int64_t *ids)
{
	const struct stack_store_node *nodes;
	uint32_t count;

	nodes = stack_store_nodes(stacks, &count);
	ret->order_count = ret->next = 0;
	if (array_reserve(&ret->order, &ret->order_capacity, (size_t)count + 1,
			  sizeof(*ret->order)) < 0)
		return -ENOMEM;
	/* The root is in no image. */
	for (uint32_t i = 1; i < count; i++)
		ret->order[ret->order_count++] =
			(struct stack_recording_node){ids[nodes[i].frame.image], i};
	if (ret->order_count > 0)
		qsort(ret->order, ret->order_count, sizeof(*ret->order), by_image);
	return 0;
}

/* @columns: of the mode */
static int stack_recording_row_add(struct stack_recording *recording, size_t rows, size_t columns,
				   uint32_t number, const struct stack_store_node *node)
{
	uint64_t *row;

	if (array_reserve(&recording->rows, &recording->row_capacity, (rows + 1) * columns,
			  sizeof(*recording->rows)) < 0)
		return -ENOMEM;
	row = &recording->rows[rows * columns];
	row[PROFILE_STACK_NODE] = number;
	row[PROFILE_STACK_PARENT] = node->parent;
	row[PROFILE_STACK_OFFSET] = node->frame.offset;
	row[PROFILE_STACK_STACKS] = node->weight;
	if (columns > PROFILE_STACK_NS) {
		row[PROFILE_STACK_STACKS] = node->stacks;
		row[PROFILE_STACK_NS] = node->weight;
	}
	return 0;
}

int stack_recording_next(struct stack_recording *ret, const struct stack_store *stacks,
			 enum profile_recording_mode mode, uint64_t every, int64_t *id)
{
	const struct stack_store_node *nodes;
	unsigned int columns = mode == PROFILE_RECORDING_OFF_CPU
				       ? (unsigned int)PROFILE_OFF_CPU_COLUMNS
				       : (unsigned int)PROFILE_STACK_COLUMNS;
	size_t first = ret->next, rows = 0;
	uint32_t count;

	if (first == ret->order_count)
		return 0;
	nodes = stack_store_nodes(stacks, &count);
	*id = ret->order[first].id;
	while (ret->next < ret->order_count && ret->order[ret->next].id == *id) {
		uint32_t number = ret->order[ret->next++].number;

		if (stack_recording_row_add(ret, rows++, columns, number, &nodes[number]) < 0)
			return -ENOMEM;
	}
	memset(ret->head, 0, sizeof(ret->head));
	ret->head[PROFILE_STACKS_EVERY] = every;
	ret->recording = (struct profile_recording){
		.mode = mode,
		.metric = "",
		.tables = {{PROFILE_STACKS_HEAD_COLUMNS, 1, ret->head}, {columns, rows, ret->rows}},
		.table_count = PROFILE_STACKS_TABLES,
	};
	return 1;
}

void stack_recording_deinit(struct stack_recording *recording)
{
	free(recording->rows);
	free(recording->order);
	*recording = (struct stack_recording){.order_count = 0};
}
