/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A procedure's word (paths_code.h) over calls that may come back into the procedure: it is
 * another activation's meanwhile.
 *
 * Few of these calls do come back, so the word stays where it is, and beside it is noted
 * whose it is: what the stack pointer is at the call. Who needs the word for himself, at the
 * procedure's entry, or before he first changes it if that is more seldom, or where another call
 * has come back (of another coroutine, say), puts it away first, into the cell of that stack
 * pointer; who comes back and finds that the word is no longer his fetches his number from there.
 * A narrow word (struct paths_places) is said to be its owner's until he sets the number or
 * leaves, so who comes in between (a handler of a signal) may put it away in vain. A cell has in
 * it whose number it is, the procedure's tag and the stack pointer, so that a number that a longjmp
 * left behind, and that is put away over another procedure's, is not taken for that.
 *
 * Where a procedure calls itself, or flags matter behind calls, all is put into the cell at
 * once.
 */
#ifndef DCPI_INSTRUMENT_PATHS_KEEP_H
#define DCPI_INSTRUMENT_PATHS_KEEP_H

#include "instrument/paths/paths_code.h"

struct paths_keep_aside;

/** struct paths_keep - code to be put aside; zero-initialised is empty */
struct paths_keep {
	struct paths_keep_aside *asides;
	size_t count;
	size_t capacity;
};

void paths_keep_deinit(struct paths_keep *keep);

/** paths_keep_before() - before a call; @lazily: not at once, the same as behind it. */
void paths_keep_before(struct machine_code *code, const struct point *point,
		       const struct paths_places *places, bool lazily);

/** paths_keep_behind() - behind it. */
void paths_keep_behind(struct paths_keep *keep, struct machine_code *code,
		       const struct point *point, const struct paths_places *places, bool lazily);

/** paths_keep_begin() - where a procedure that keeps lazily begins to use its word. */
void paths_keep_begin(struct paths_keep *keep, struct machine_code *code, const struct point *point,
		      const struct paths_places *places);

/** paths_keep_asides() - behind all other code of the procedure's copy; @keep is empty then. */
void paths_keep_asides(struct paths_keep *keep, struct machine_code *code,
		       const struct paths_places *places);

#endif
