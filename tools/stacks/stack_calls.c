// SPDX-License-Identifier: GPL-2.0-only
#include "tools/stacks/stack_calls.h"

#include <errno.h>
#include <stdlib.h>

#include "db/profile_read.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/partition_point.h"
#include "tools/stacks/stored_stacks.h"

/* In stored_stack.own: the row is in the kernel or a module. */
static int rows_mark(struct stored_stacks *stored, struct profile_reader *reader, struct error *err)
{
	int64_t last = 0;
	bool kernel = false;

	for (size_t i = 0; i < stored->count; i++) {
		struct stored_stack *row = &stored->rows[i];
		struct profile_image image;
		int r;

		if (row->image != last) {
			r = profile_reader_image(reader, row->image, &image, err);
			if (r < 0)
				return r;
			kernel = image.kind == PROFILE_IMAGE_KERNEL ||
				 image.kind == PROFILE_IMAGE_MODULE;
			last = row->image;
		}
		row->own = kernel;
	}
	return 0;
}

/*
 * The offset of a caller is in its call, which ends at the next byte or later. The outermost frame
 * of the kernel returns to the instruction at which the program was interrupted.
 */
static void callers_find(struct stack_call *call, const struct stored_stacks *stored,
			 const struct stored_totals *totals, size_t row)
{
	size_t at = totals->parents[row];

	for (size_t i = 0; i < IMAGE_STACK_CALLERS && at != STORED_NO_PARENT; i++) {
		const struct stored_stack *caller = &stored->rows[at];

		call->callers[i] = (struct image_caller){
			.image = caller->image,
			.offset = caller->offset + (caller->own ? 1 : 0),
		};
		if (!caller->own)
			return;
		at = totals->parents[at];
	}
}

static int calls_add(struct stack_calls *ret, const struct stored_stacks *stored,
		     const struct stored_totals *totals)
{
	for (size_t i = 0; i < stored->count; i++) {
		if (!stored->rows[i].own || totals->parents[i] == STORED_NO_PARENT)
			continue;
		if (array_reserve(&ret->list, &ret->capacity, ret->count + 1, sizeof(*ret->list)) <
		    0)
			return -ENOMEM;
		ret->list[ret->count] = (struct stack_call){
			.image = stored->rows[i].image,
			.offset = stored->rows[i].offset,
			.stacks = (double)totals->stacks[i],
			.calls = (double)(totals->stacks[i] - stored->rows[i].stacks),
		};
		callers_find(&ret->list[ret->count++], stored, totals, i);
	}
	return 0;
}

static int stack_call_compare(const void *a, const void *b)
{
	const struct stack_call *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

int stack_calls_find(struct stack_calls *ret, struct profile_reader *reader,
		     const struct profile_filter *filter, struct error *err)
{
	struct stored_stacks stored = {.count = 0};
	struct stored_totals totals = {.parents = NULL};
	int r = stored_stacks_read(&stored, reader, filter, PROFILE_RECORDING_STACKS, err);

	if (r == 0)
		r = rows_mark(&stored, reader, err);
	if (r == 0) {
		stored_stacks_sort(&stored);
		r = stored_stacks_totals(&totals, &stored, err);
	}
	if (r == 0 && calls_add(ret, &stored, &totals) < 0)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (ret->count > 0)
		qsort(ret->list, ret->count, sizeof(*ret->list), stack_call_compare);
	stored_totals_deinit(&totals);
	stored_stacks_deinit(&stored);
	return r;
}

const struct stack_call *stack_calls_image(const struct stack_calls *calls, int64_t image,
					   size_t *count)
{
	size_t first = partition_point(0, calls->count, i, calls->list[i].image < image);
	size_t end = partition_point(first, calls->count, i, calls->list[i].image <= image);

	*count = end - first;
	return calls->list != NULL ? &calls->list[first] : NULL;
}

void stack_calls_deinit(struct stack_calls *calls)
{
	free(calls->list);
	*calls = (struct stack_calls){.count = 0};
}
