// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_faults.h"

#include <errno.h>
#include <stdlib.h>

#include "tools/annotate/calc_profile.h"
#include "tools/stacks/stack_faults.h"

static int compare_faults(const void *a, const void *b)
{
	const struct image_fault *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

int calc_faults_settle(struct image_samples *samples, const struct calc_profile_wanted *wanted)
{
	size_t count = 0;
	const struct stack_fault *found =
		wanted->faults != NULL ? stack_faults_image(wanted->faults, wanted->image, &count)
				       : NULL;
	struct image_fault *faults = count > 0 ? calloc(count, sizeof(*faults)) : NULL;

	if (count > 0 && faults == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct image_fault *fault = &faults[samples->fault_count];

		if (calc_profile_address(wanted, found[i].offset, &fault->address) < 0)
			continue;
		fault->samples = found[i].samples;
		fault->stacks = found[i].stacks;
		samples->fault_count++;
	}
	if (samples->fault_count > 0)
		qsort(faults, samples->fault_count, sizeof(*faults), compare_faults);
	samples->faults = faults;
	return 0;
}
