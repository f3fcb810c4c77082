/* SPDX-License-Identifier: GPL-2.0-only */
/* The callers of code of the kernel and its modules, from the call stacks of a database. */
#ifndef DCPI_STACK_CALLS_H
#define DCPI_STACK_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/image_samples.h"

struct error;
struct profile_filter;
struct profile_reader;

/**
 * struct stack_call - stacks with a frame in the kernel or a module
 * @image, @offset: of the frame's instruction, or of a byte of its call
 * @calls:          those of @stacks that do not end in the frame
 * @callers:        return addresses, by image and offset, the innermost first; image 0: none
 */
struct stack_call {
	int64_t image;
	uint64_t offset;
	double stacks;
	double calls;
	struct image_caller callers[IMAGE_STACK_CALLERS];
};

/** struct stack_calls - zero-initialised: none; @list: by image and offset */
struct stack_calls {
	struct stack_call *list;
	size_t count;
	size_t capacity;
};

/**
 * stack_calls_find() - find the callers in the epochs that a filter selects
 * @ret: freed by stack_calls_deinit(), also after a failure
 *
 * Return: 0, also if there are no stacks; -EBADMSG: damaged; -ENOMEM; the reader's errors.
 */
int stack_calls_find(struct stack_calls *ret, struct profile_reader *reader,
		     const struct profile_filter *filter, struct error *err);

/** stack_calls_image() - return the first of @count frames in an image */
const struct stack_call *stack_calls_image(const struct stack_calls *calls, int64_t image,
					   size_t *count);

void stack_calls_deinit(struct stack_calls *calls);

#endif
