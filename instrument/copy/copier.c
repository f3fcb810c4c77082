// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/copier.h"

#include "lib/array.h"

struct aside *copier_add_aside(struct copier *copier, struct aside aside)
{
	if (array_reserve(&copier->asides, &copier->aside_capacity, copier->aside_count + 1,
			  sizeof(*copier->asides)) < 0) {
		copier->code->failed = true;
		return NULL;
	}
	aside.label = machine_code_label(copier->code);
	aside.frame = copier->code->frame;
	copier->asides[copier->aside_count] = aside;
	return &copier->asides[copier->aside_count++];
}
