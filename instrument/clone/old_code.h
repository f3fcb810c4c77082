/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The original code of a procedure that has been cloned. Jumps to the clone are written wherever
 * control may still arrive. The rest of the code is never executed again, and its bytes can hold
 * jumps that do not fit at their own address.
 */
#ifndef DCPI_INSTRUMENT_OLD_CODE_H
#define DCPI_INSTRUMENT_OLD_CODE_H

#include "instrument/clone/procedure_clone.h"

/**
 * struct old_patch - a jump to be written into original code
 * @address: of the jump
 * @label:   in the clone; OLD_PATCH_SHORT: a short jump to @target
 */
struct old_patch {
	uint64_t address;
	uint64_t target;
	uint32_t label;
};

#define OLD_PATCH_SHORT UINT32_MAX
#define OLD_CODE_JUMP_BYTES 5
#define OLD_CODE_SHORT_BYTES 2

/**
 * struct old_code - zero-initialised is empty; freed by old_code_deinit()
 * @patches: for all sites of a clone
 */
struct old_code {
	struct old_patch *patches;
	size_t count;
	size_t capacity;
};

/**
 * old_code_plan() - find room for the jumps of all sites
 * @graph:   blocks of @cfg that were cloned
 * @padding: returns the number of unused bytes from an address on
 *
 * Code that is not known to be reached stays unchanged, and so do the targets of its branches.
 *
 * Return: 0; -ENOSPC without enough room; -ENOMEM.
 */
int old_code_plan(struct old_code *ret, const struct cfg *cfg, const struct count_graph *graph,
		  const struct procedure_clone *clone,
		  size_t (*padding)(void *context, uint64_t address), void *context);

void old_code_deinit(struct old_code *code);

#endif
