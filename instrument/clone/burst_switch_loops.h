/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the back edges of a procedure that have a check, and its unchecked loops
 * (burst_switch_placement.h).
 *
 * A back edge leads to a block on the current path of a depth-first search; each cycle has one. A
 * loop consists of a header, to which back edges lead, and the blocks that reach their sources
 * without passing the header. A loop is never unchecked if it can be entered elsewhere, or contains
 * calls, system calls or indirect jumps.
 */
#ifndef DCPI_INSTRUMENT_BURST_SWITCH_LOOPS_H
#define DCPI_INSTRUMENT_BURST_SWITCH_LOOPS_H

#include <stdbool.h>

#include "analysis/graph/cfg.h"
#include "instrument/mode/burst_switch_placement.h"

/**
 * struct burst_switch_loops - zero-initialised is empty; freed by burst_switch_loops_deinit()
 * @checked: for each edge of the graph: it has a check. Each cycle contains one, unless all its
 *           blocks are unchecked; with BURST_SWITCH_LOOPS_NONE no loop does
 * @unchecked:  for each block: it is in an unchecked loop, and records nothing
 */
struct burst_switch_loops {
	bool *checked;
	bool *unchecked;
};

/**
 * burst_switch_loops_find() - find checks and unchecked loops
 * @is_event: returns true if something is to be recorded at an instruction
 *
 * O(blocks * loops) in the worst case. Return: 0 or -ENOMEM.
 */
int burst_switch_loops_find(struct burst_switch_loops *ret, const struct cfg *cfg,
			    int32_t unchecked, bool (*is_event)(void *context, uint32_t insn),
			    void *context);

void burst_switch_loops_deinit(struct burst_switch_loops *loops);

#endif
