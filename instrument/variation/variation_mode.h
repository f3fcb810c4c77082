/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times of single acyclic paths (Perelman, Chilimbi, Calder, "Variational path profiling",
 * PACT 2005): of two copies of each procedure (copier_turn.c) one only counts checks; now and
 * then the other one runs up to the next check, and notes how long each path took.
 *
 * A path goes from a check, from where a call came back or where an indirect jump has led, to
 * where the procedure is left, calls, jumps indirectly or comes to a way back, before its
 * check. So what a procedure does between two calls is a path of its own, and no time is
 * that of other procedures. Which path it was is told by the sum of values on its ways
 * (path_graph.h), which is the signature of the paper's section 5.1, an entry point and the
 * branches taken from there, as one number; it also tells cases of jump tables apart.
 *
 * What follows a call or an indirect jump is timed if what precedes was: each path once for
 * the same number of its executions on average, wherever it begins.
 *
 * lfence is before both readings of the clock and behind the first: what was begun before a
 * path is done when it begins, and its own loads have come when it ends. Without, the time
 * of a load that misses would be that of a path behind, or of none. What the processor would
 * have done of other paths meanwhile is not seen: times are those of a path alone.
 */
#ifndef DCPI_INSTRUMENT_VARIATION_MODE_H
#define DCPI_INSTRUMENT_VARIATION_MODE_H

#include "instrument/mode/mode.h"

#define VARIATION_MAP_SECTION ".dcpix.variation"
#define VARIATION_CHECKS_DEFAULT 100000
/* As few as can be without a path that never is timed: that of a small loop misses most. */
#define VARIATION_PLACEMENT_DEFAULT ((struct turn_placement){TURN_ENTRIES_CYCLES, TURN_LOOPS_ALL})

extern const struct instrument_mode variation_mode;

#endif
