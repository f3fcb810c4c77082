/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a path's number is (path_graph.h): a word of the thread's memory, as a procedure may be
 * left for ever or called again while it calls others, or a register of the processor, as in
 * Ball and Larus' paper. Nodes that the number goes on between are a web; between two webs it is
 * known. A web that nothing is called in, nor is left by an indirect jump, and in which there is
 * a register that has no other use, has its number there: that takes an instruction less and half
 * the code, and nobody else can change it.
 */
#ifndef DCPI_INSTRUMENT_PATH_WEBS_H
#define DCPI_INSTRUMENT_PATH_WEBS_H

#include "instrument/mode/mode.h"
#include "instrument/paths/path_graph.h"

/**
 * path_webs_find() - where each way finds the number and leaves it
 * @registers: some numbers may be in registers; else all are in memory
 *
 * Fills in its ways' @reads, @writes, @takes and @leaves. O(instructions + ways), and again ways
 * for loops in loops. Return: 0 or -ENOMEM.
 */
int path_webs_find(struct path_graph *graph, const struct mode_procedure *procedure,
		   bool registers);

#endif
