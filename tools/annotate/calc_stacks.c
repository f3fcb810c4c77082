// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "tools/annotate/calc_profile.h"
#include "tools/stacks/stack_calls.h"

static int compare_stacks(const void *a, const void *b)
{
	const struct image_stack *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Convert callers in the same image to addresses. */
static void callers_settle(struct image_stack *stack, const struct stack_call *call,
			   const struct calc_profile_wanted *wanted)
{
	for (size_t i = 0; i < IMAGE_STACK_CALLERS && call->callers[i].image != 0; i++) {
		struct image_caller *caller = &stack->callers[i];

		*caller = call->callers[i];
		if (caller->image == wanted->image &&
		    calc_profile_address(wanted, caller->offset, &caller->address) < 0)
			return;
	}
}

int calc_stacks_settle(struct image_samples *samples, const struct calc_profile_wanted *wanted)
{
	size_t count = 0;
	const struct stack_call *found =
		wanted->calls != NULL && wanted->kernel
			? stack_calls_image(wanted->calls, wanted->image, &count)
			: NULL;
	struct image_stack *stacks = count > 0 ? calloc(count, sizeof(*stacks)) : NULL;

	if (count > 0 && stacks == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct image_stack *stack = &stacks[samples->stack_count];

		if (calc_profile_address(wanted, found[i].offset, &stack->address) < 0)
			continue;
		stack->stacks = found[i].stacks;
		stack->calls = found[i].calls;
		callers_settle(stack, &found[i], wanted);
		samples->stack_count++;
	}
	if (samples->stack_count > 0)
		qsort(stacks, samples->stack_count, sizeof(*stacks), compare_stacks);
	samples->stacks = stacks;
	return 0;
}
