// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults, out of order: sampled call stacks show the kernel's time for the faults of an
 * instruction. In user space the instruction takes the time to enter and leave the kernel, and to
 * refill the window.
 */
#include "analysis/culprit/culprit_rule.h"

#include <stddef.h>

/* The processor enters and leaves the kernel in less time than the kernel takes for the fault. */
bool culprit_page_fault_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	const struct image_fault *const *faults = stall->input->profile->faults;

	if (stall->input->model->in_order || faults == NULL || faults[stall->insn] == NULL)
		return false;
	ret->high = faults[stall->insn]->samples / stall->frequency;
	return ret->high > 0;
}
