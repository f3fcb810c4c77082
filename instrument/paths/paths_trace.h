/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread's trace has the paths that ended in bursts, in order, and the time before each group of
 * paths. Most paths take less time than reading the clock, and out-of-order execution overlaps
 * them. Therefore the clock is read once for a group, and paths_cost.h derives the cost of each
 * path from the times of many groups. Different lengths of groups separate the cost of a group from
 * the costs of its paths.
 *
 * The trace is in the thread's area, after the table (paths_map.h). It is a ring of cells; the
 * latest ones remain. The layout is shared by the code that runs inside the program and the reader:
 * no libc, fixed widths.
 */
#ifndef DCPI_INSTRUMENT_PATHS_TRACE_H
#define DCPI_INSTRUMENT_PATHS_TRACE_H

#include <stdint.h>

#define PATHS_TRACE_CELL_BYTES 256
#define PATHS_TRACE_CELLS 65536
#define PATHS_TRACE_SLOTS 64
/* Slots of a cell where a group begins: of 7, 32, 2 and 15 paths. */
#define PATHS_TRACE_STARTS UINT64_C(0x880000000201)
#define PATHS_TRACE_FIRST 7
/* Number of times for calibration of each kind, and of paths in groups that only record. */
#define PATHS_TRACE_CLOCKS 30
#define PATHS_TRACE_EMPTY_PATHS 32

/* Parameters of the runtime (struct profile_layout_state). */
#define PATHS_TRACE_PARAMETER 0 /* offset of struct paths_trace_head in the area; 0: no trace */

/**
 * struct paths_trace_head - before the groups
 * @cursor: offset of the next entry from the base of %gs; 0: the thread has not begun
 * @clocks: times of groups without paths, in cycles
 * @empty:  times of groups of PATHS_TRACE_EMPTY_PATHS empty paths
 */
struct paths_trace_head {
	uint64_t cursor;
	uint64_t reserved;
	uint32_t clocks[PATHS_TRACE_CLOCKS];
	uint32_t empty[PATHS_TRACE_CLOCKS];
};

/*
 * Slots have 32 bits. At PATHS_TRACE_STARTS, two slots have the time stamp counter before the
 * group. Its upper bits have the number of the thread's burst, added to it
 * (BURST_SWITCH_CHARGE_BITS). The other slots have the paths, in the order of their ends: the
 * offset of the path's count in the area.
 */
struct paths_trace_cell {
	uint32_t slots[PATHS_TRACE_SLOTS];
};

_Static_assert(sizeof(struct paths_trace_head) == PATHS_TRACE_CELL_BYTES, "the head's size");
_Static_assert(sizeof(struct paths_trace_cell) == PATHS_TRACE_CELL_BYTES, "a cell's size");

/* Threads that share a block may move the cursor past the end, by a few cells. */
#define PATHS_TRACE_BYTES ((uint64_t)PATHS_TRACE_CELL_BYTES * (1 + PATHS_TRACE_CELLS + 16))

#endif
