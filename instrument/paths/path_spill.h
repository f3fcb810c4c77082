/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A procedure's word (paths_code.h) across calls that may re-enter the procedure, so that another
 * activation uses the word meanwhile.
 *
 * Few of these calls do re-enter, so the number stays in the word, and its owner is recorded next
 * to it: the stack pointer at the call. An activation that needs the word first saves the owner's
 * number in the cell of that stack pointer. It does so at the procedure's entry, or before it first
 * changes the word if that is rarer, or after another call has returned (in another coroutine, for
 * example). An activation whose call returns, and which no longer owns the word, restores its
 * number from its cell. A narrow word (struct paths_places) stays marked as owned until its owner
 * sets the number or leaves, so other activations in between (a signal handler) may save it
 * needlessly. A cell records the procedure's tag and the stack pointer along with the number. So a
 * number that remains after a longjmp, and overwrites that of another procedure, is not mistaken
 * for the latter.
 *
 * If a procedure calls itself, or flags are live after the call, the number is saved in the cell at
 * the call.
 */
#ifndef DCPI_INSTRUMENT_PATH_SPILL_H
#define DCPI_INSTRUMENT_PATH_SPILL_H

#include "instrument/paths/paths_code.h"

struct path_spill_stub;

/** struct path_spill - pending cold stubs; zero-initialised is empty */
struct path_spill {
	struct path_spill_stub *cold_stubs;
	size_t count;
	size_t capacity;
};

void path_spill_deinit(struct path_spill *spill);

/**
 * path_spill_before() - emit code before a call; @lazily: do not save the number at the call. The
 * same value must be passed to path_spill_after().
 */
void path_spill_before(struct machine_code *code, const struct point *point,
		       const struct paths_places *places, bool lazily);

/** path_spill_after() - emit code after a call */
void path_spill_after(struct path_spill *spill, struct machine_code *code,
		      const struct point *point, const struct paths_places *places, bool lazily);

/** path_spill_begin() - emit code where a procedure with lazy saving begins to use its word */
void path_spill_begin(struct path_spill *spill, struct machine_code *code,
		      const struct point *point, const struct paths_places *places);

/**
 * path_spill_emit_cold_stubs() - emit the cold stubs, after all other code of the clone; @spill is
 * empty then
 */
void path_spill_emit_cold_stubs(struct path_spill *spill, struct machine_code *code,
				const struct paths_places *places);

#endif
