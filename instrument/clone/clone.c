// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/clone.h"

#include "lib/array.h"

struct cold_stub *clone_add_cold_stub(struct clone *clone, struct cold_stub cold_stub)
{
	if (array_reserve(&clone->cold_stubs, &clone->cold_stub_capacity,
			  clone->cold_stub_count + 1, sizeof(*clone->cold_stubs)) < 0) {
		clone->code->failed = true;
		return NULL;
	}
	cold_stub.label = machine_code_label(clone->code);
	cold_stub.frame = clone->code->frame;
	clone->cold_stubs[clone->cold_stub_count] = cold_stub;
	return &clone->cold_stubs[clone->cold_stub_count++];
}
