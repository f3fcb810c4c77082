/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The old code of a procedure that has been copied: jumps to the new code are put where
 * control may still arrive. All else of it is never run again, and its bytes can hold
 * jumps for which there is no room where they belong.
 */
#ifndef DCPI_INSTRUMENT_OLD_CODE_H
#define DCPI_INSTRUMENT_OLD_CODE_H

#include "instrument/copy/procedure_copy.h"

/**
 * struct old_patch - a jump to put into old code
 * @address: where
 * @label:   of the new code; OLD_PATCH_SHORT: to @target, close by
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
 * @patches: for all sites of a copy
 */
struct old_code {
	struct old_patch *patches;
	size_t count;
	size_t capacity;
};

/**
 * old_code_plan() - find room for all sites
 * @graph:   what of @cfg was copied
 * @padding: bytes behind an address that belong to nobody
 *
 * Code that nothing is known to reach is left as it is, and so is what it leads to.
 *
 * Return: 0; -ENOSPC there is none; -ENOMEM.
 */
int old_code_plan(struct old_code *ret, const struct cfg *cfg, const struct count_graph *graph,
		  const struct procedure_copy *copy,
		  size_t (*padding)(void *context, uint64_t address), void *context);

void old_code_deinit(struct old_code *code);

#endif
