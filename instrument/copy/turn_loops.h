/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the back edges of a procedure that have a check, and its boring loops (turn_placement.h).
 *
 * A back edge leads to a block on the current path of a depth-first search; each cycle has one. A
 * loop consists of a header, to which back edges lead, and the blocks that reach their sources
 * without passing the header. A loop is never boring if it can be entered elsewhere, or contains
 * calls, system calls or indirect jumps.
 */
#ifndef DCPI_INSTRUMENT_TURN_LOOPS_H
#define DCPI_INSTRUMENT_TURN_LOOPS_H

#include <stdbool.h>

#include "analysis/graph/cfg.h"
#include "instrument/mode/turn_placement.h"

/**
 * struct turn_loops - zero-initialised is empty; freed by turn_loops_deinit()
 * @checked: for each edge of the graph: it has a check. Each cycle contains one, unless all its
 *           blocks are boring; with TURN_LOOPS_NONE no loop does
 * @boring:  for each block: it is in a boring loop, and records nothing
 */
struct turn_loops {
	bool *checked;
	bool *boring;
};

/**
 * turn_loops_find() - find checks and boring loops
 * @is_event: returns true if something is to be recorded at an instruction
 *
 * O(blocks * loops) in the worst case. Return: 0 or -ENOMEM.
 */
int turn_loops_find(struct turn_loops *ret, const struct cfg *cfg, int32_t boring,
		    bool (*is_event)(void *context, uint32_t insn), void *context);

void turn_loops_deinit(struct turn_loops *loops);

#endif
