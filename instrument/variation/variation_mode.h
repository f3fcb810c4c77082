/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times of single acyclic paths (Perelman, Chilimbi, Calder, "Variational path profiling", PACT
 * 2005). Each procedure has two clones (clone_switch.c). One only counts checks; occasionally the
 * other one runs up to the next check, and records the time of each path.
 *
 * A path begins at a check, after a return from a call, or after an indirect jump. It ends where
 * the procedure is left, before a call or an indirect jump, or at a back edge, before its check. So
 * the code of a procedure between two calls is a separate path, and no time includes other
 * procedures. As in path_graph.h, a path is identified by the sum of the values on its edges. This
 * number corresponds to the signature of the paper's section 5.1, an entry point and the branches
 * taken from there; it also distinguishes cases of jump tables.
 *
 * The path after a call or an indirect jump is timed if the path before it was. So on average, each
 * path is timed once for the same number of its executions, wherever it begins.
 *
 * An lfence precedes both readings of the clock, and another one follows the first. So instructions
 * before a path have completed when it begins, and its own loads have completed when it ends.
 * Without the fences, the time of a cache miss would be charged to a later path, or to none.
 * Overlap with other paths is not measured: times are those of a path executed in isolation.
 */
#ifndef DCPI_INSTRUMENT_VARIATION_MODE_H
#define DCPI_INSTRUMENT_VARIATION_MODE_H

#include "instrument/mode/mode.h"

#define VARIATION_MAP_SECTION ".dcpix.variation"
#define VARIATION_CHECKS_DEFAULT 100000
/*
 * As few checks as possible such that every path can be timed. Small loops need checks, too: their
 * paths would be missed most.
 */
#define VARIATION_PLACEMENT_DEFAULT                                                                \
	((struct burst_switch_placement){BURST_SWITCH_ENTRIES_CYCLES, BURST_SWITCH_LOOPS_ALL})

extern const struct instrument_mode variation_mode;

#endif
