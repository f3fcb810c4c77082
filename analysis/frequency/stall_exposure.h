/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dynamic stalls to which an instruction is exposed, derived from the code alone. An instruction in
 * the middle of a block that waits for no load rarely stalls; the first one after a taken branch
 * nearly always does. Frequencies are estimated from instructions that are not exposed.
 */
#ifndef DCPI_STALL_EXPOSURE_H
#define DCPI_STALL_EXPOSURE_H

#include "analysis/graph/cfg.h"
#include "analysis/machine/machine_model.h"

/** enum stall_exposure - the most severe possible stall of an instruction, most severe last. */
enum stall_exposure {
	EXPOSED_NOT,
	EXPOSED_LINE,	     /* Begins a line of the I-cache. */
	EXPOSED_STORE,	     /* Write buffer, DTB. */
	EXPOSED_LOAD,	     /* DTB, too many misses in progress. */
	EXPOSED_FALLTHROUGH, /* First of a block that is never jumped to. */
	EXPOSED_VALUE,	     /* May be the first to use the result of a load or an FP division. */
	EXPOSED_FETCH,	     /* First of a block that is jumped to: mispredictions, I-cache. */
	EXPOSED_BUBBLE,	     /* After any taken branch, on machines that lose a cycle there. */
	EXPOSED_DIVISION,    /* May be the first to use a quotient: M is the best case. */
	STALL_EXPOSURES,
};

/**
 * stall_exposure_find() - find the exposures of all instructions
 * @ret:   out: enum stall_exposure of each instruction
 * @model: NULL: lines of 32 bytes, no cycle lost after taken branches
 *
 * Pending results are followed into successors. O(instructions).
 *
 * Return: 0 or -ENOMEM.
 */
int stall_exposure_find(uint8_t *ret, const struct cfg *cfg, const struct machine_model *model);

#endif
