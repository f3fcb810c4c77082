/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What dynamic stalls an instruction is open to, by the code alone: an instruction in the
 * middle of a block that waits for no load hardly ever has one, the first behind a taken
 * branch nearly always. Frequencies come from those that are not exposed.
 */
#ifndef DCPI_STALL_EXPOSURE_H
#define DCPI_STALL_EXPOSURE_H

#include "analysis/graph/cfg.h"
#include "analysis/machine/machine_model.h"

/** enum stall_exposure - the gravest thing that may hold an instruction up, gravest last. */
enum stall_exposure {
	EXPOSED_NOT,
	EXPOSED_LINE,	     /* begins a line of the I-cache */
	EXPOSED_STORE,	     /* write buffer, DTB */
	EXPOSED_LOAD,	     /* DTB, too many misses under way */
	EXPOSED_FALLTHROUGH, /* first of a block that is never jumped to */
	EXPOSED_VALUE,	     /* may be the first to use what a load or an FP division brings */
	EXPOSED_FETCH,	     /* first of a block that is jumped to: mispredicts, I-cache */
	EXPOSED_BUBBLE,	     /* behind any taken branch, of machines that lose a cycle there */
	EXPOSED_DIVISION,    /* may be the first to use a quotient: M is the best case */
	STALL_EXPOSURES,
};

/**
 * stall_exposure_find() - of all instructions
 * @ret:   out: enum stall_exposure of each instruction
 * @model: NULL: lines of 32 bytes, no cycle lost behind taken branches
 *
 * Values under way are followed into successors. O(instructions).
 *
 * Return: 0 or -ENOMEM.
 */
int stall_exposure_find(uint8_t *ret, const struct cfg *cfg, const struct machine_model *model);

#endif
