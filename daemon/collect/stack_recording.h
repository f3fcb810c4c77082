/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recordings (enum profile_stacks_table) of the call stacks or the off-CPU time of an epoch,
 * one for each image of the database. Several images of the daemon can be one image there: files
 * without a known identity are distinguished by path only.
 */
#ifndef DCPI_STACK_RECORDING_H
#define DCPI_STACK_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile_write.h"

struct stack_store;
struct stack_recording_node;

/**
 * struct stack_recording - zero-initialised is empty; its arrays are kept for the next use
 * @order: the nodes by image of the database
 * @next:  index of the first node that has been in no recording
 */
struct stack_recording {
	struct profile_recording recording;
	uint64_t head[PROFILE_STACKS_HEAD_COLUMNS];
	uint64_t *rows;
	size_t row_capacity;
	struct stack_recording_node *order;
	size_t order_count;
	size_t order_capacity;
	size_t next;
};

/**
 * stack_recording_begin() - sort the nodes of a store by image, for stack_recording_next()
 * @ids: numbers in the database, by image; those of stack_store_images() are set
 *
 * O(nodes log nodes). Return: 0 or -ENOMEM.
 */
int stack_recording_begin(struct stack_recording *ret, const struct stack_store *stacks,
			  const int64_t *ids);

/**
 * stack_recording_next() - make the recording of the next image
 * @ret:    its recording is replaced; valid until the next call
 * @stacks: unchanged since stack_recording_begin()
 * @mode:   PROFILE_RECORDING_STACKS or PROFILE_RECORDING_OFF_CPU
 * @every:  value of PROFILE_STACKS_EVERY
 * @id:     out: number of the image in the database
 *
 * Return: 1; 0: there are no more images; -ENOMEM.
 */
int stack_recording_next(struct stack_recording *ret, const struct stack_store *stacks,
			 enum profile_recording_mode mode, uint64_t every, int64_t *id);

void stack_recording_deinit(struct stack_recording *recording);

#endif
