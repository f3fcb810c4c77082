/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which ways of a procedure lead back and have a check, and which of its loops are boring
 * (turn_placement.h).
 *
 * Ways back are those to a block that a search in depth is still on the way from; each
 * circle has one. A loop is a block that such ways lead to, and the blocks from which these
 * are reached without it. One that can be entered elsewhere too is never boring, nor one
 * that calls, asks the system or has indirect jumps.
 */
#ifndef DCPI_INSTRUMENT_TURN_LOOPS_H
#define DCPI_INSTRUMENT_TURN_LOOPS_H

#include <stdbool.h>

#include "analysis/graph/cfg.h"
#include "instrument/mode/turn_placement.h"

/**
 * struct turn_loops - zero-initialised is empty; freed by turn_loops_deinit()
 * @checked: of each edge of the graph: it has a check. So every circle has one, but those
 *           of blocks that are boring; no loop has one with TURN_LOOPS_NONE
 * @boring:  of each block: it is in a boring loop, and records nothing
 */
struct turn_loops {
	bool *checked;
	bool *boring;
};

/**
 * turn_loops_find() - find them
 * @is_event: whether something is to be recorded at an instruction
 *
 * O(blocks * loops) at the worst. Return: 0 or -ENOMEM.
 */
int turn_loops_find(struct turn_loops *ret, const struct cfg *cfg, int32_t boring,
		    bool (*is_event)(void *context, uint32_t insn), void *context);

void turn_loops_deinit(struct turn_loops *loops);

#endif
