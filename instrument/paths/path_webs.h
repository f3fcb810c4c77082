/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Choose where a path's number is held (path_graph.h). By default, this is a word of the thread's
 * memory, because a procedure may end without a return, or be re-entered from its callees. Where
 * possible it is a register of the processor, as in the paper by Ball and Larus. A web is a set of
 * nodes that the number is passed between; at the borders of webs the number is known. The number
 * of a web is held in a register if there are no calls and no exits by indirect jumps in the web,
 * and a register is unused in all of it. That saves an instruction and half the code size, and no
 * other activation can change the number.
 */
#ifndef DCPI_INSTRUMENT_PATH_WEBS_H
#define DCPI_INSTRUMENT_PATH_WEBS_H

#include "instrument/mode/mode.h"
#include "instrument/paths/path_graph.h"

/**
 * path_webs_find() - determine where each edge reads and writes the number
 * @registers: some numbers may be in registers; otherwise all are in memory
 *
 * Fills in @reads, @writes, @takes and @leaves of the edges. O(instructions + edges), times the
 * nesting depth of loops. Return: 0 or -ENOMEM.
 */
int path_webs_find(struct path_graph *graph, const struct mode_procedure *procedure,
		   bool registers);

#endif
