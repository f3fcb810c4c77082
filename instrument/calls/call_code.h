/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code that records contexts of calls, at points of a procedure (point.h): what is usual
 * it does itself, in the thread's memory (call_layout.h). That is a call by a transition
 * that was gone lately, from the last frame; and a return from the last frame. All else is
 * the runtime's (runtime/call_automaton.h), which begins again: until it is known to be
 * usual nothing has been changed.
 *
 * After Ammons, Ball, Larus 1997, whose records have a slot for each callee, and Spivey
 * 2004, who looks for a transition in a hash table.
 */
#ifndef DCPI_INSTRUMENT_CALL_CODE_H
#define DCPI_INSTRUMENT_CALL_CODE_H

#include "instrument/calls/call_layout.h"
#include "instrument/code/point.h"

struct call_aside;

/**
 * struct call_code - of a procedure; freed by call_code_deinit()
 * @area_at:   of the struct call_area, from %gs' base
 * @procedure: its number
 * @handler:   label of the way to the runtime if it has been called by the kernel
 * @handles:   it may have been, as a handler of signals
 * @asides:    ways to the runtime, put behind the procedure
 */
struct call_code {
	uint32_t area_at;
	uint32_t procedure;
	enum call_metric metric;
	uint32_t handler;
	bool handles;
	struct call_aside *asides;
	size_t aside_count;
	size_t aside_capacity;
};

void call_code_deinit(struct call_code *calls);

/** call_code_outside() - on entry by others than copies, before that: was it the kernel? */
void call_code_outside(struct call_code *calls, const struct point *point,
		       struct machine_code *code);

/** call_code_enter() - CALL_OPERATION_ENTER or CALL_OPERATION_VISIT, on entry. */
void call_code_enter(struct call_code *calls, const struct point *point, struct machine_code *code,
		     enum call_operation operation);

/** call_code_leave() - CALL_OPERATION_LEAVE or CALL_OPERATION_JUMP. */
void call_code_leave(struct call_code *calls, const struct point *point, struct machine_code *code,
		     enum call_operation operation);

/** call_code_rare() - CALL_OPERATION_STAY or CALL_OPERATION_RESUME */
void call_code_rare(const struct call_code *calls, const struct point *point,
		    struct machine_code *code, enum call_operation operation);

/** call_code_asides() - once all else is there. */
void call_code_asides(const struct call_code *calls, struct machine_code *code);

#endif
