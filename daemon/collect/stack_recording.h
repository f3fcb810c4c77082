/* SPDX-License-Identifier: GPL-2.0-only */
/* The recordings (enum profile_stacks_table) of the call stacks of an epoch, image by image. */
#ifndef DCPI_STACK_RECORDING_H
#define DCPI_STACK_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile_write.h"

struct stack_store;

/**
 * struct stack_recording - zero-initialised is empty; its arrays are kept for the next use
 * @order: numbers of the nodes, by image
 */
struct stack_recording {
	struct profile_recording recording;
	uint64_t head[PROFILE_STACKS_HEAD_COLUMNS];
	uint64_t *rows;
	size_t row_capacity;
	uint32_t *order;
	size_t order_count;
	size_t order_capacity;
};

/**
 * stack_recording_sort() - sort the nodes of a store by image, for stack_recording_make()
 *
 * O(nodes log nodes). Return: 0 or -ENOMEM.
 */
int stack_recording_sort(struct stack_recording *ret, const struct stack_store *stacks);

/**
 * stack_recording_make() - make the recording of an image
 * @ret:    its recording is replaced; valid until the next call
 * @stacks: unchanged since stack_recording_sort()
 * @every:  value of PROFILE_STACKS_EVERY
 *
 * Return: 0 or -ENOMEM.
 */
int stack_recording_make(struct stack_recording *ret, const struct stack_store *stacks,
			 uint32_t image, uint32_t every);

void stack_recording_deinit(struct stack_recording *recording);

#endif
