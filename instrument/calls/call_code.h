/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code that records call contexts, at points of a procedure (point.h). The code handles the
 * common cases itself, in the thread's memory (call_layout.h): a call from the last frame by a
 * transition that was used recently, and a return from the last frame. All other cases are handled
 * by the runtime (runtime/call_automaton.h), which starts from the beginning: the code changes
 * nothing before the case is known to be common.
 *
 * After Ammons, Ball, Larus 1997, whose records have a slot for each callee, and Spivey 2004, which
 * uses a hash table of transitions.
 */
#ifndef DCPI_INSTRUMENT_CALL_CODE_H
#define DCPI_INSTRUMENT_CALL_CODE_H

#include "instrument/calls/call_layout.h"
#include "instrument/codegen/point.h"

struct call_cold_stub;

/**
 * struct call_code - code of a procedure; freed by call_code_deinit()
 * @area_at:   offset of the struct call_area from the base of %gs
 * @procedure: number of the procedure
 * @sites:     call sites of a caller are distinguished
 * @handler:   label of the call of the runtime, if the kernel has called the procedure
 * @handles:   the kernel may call it, as a signal handler
 * @cold_stubs:    cold stubs that call the runtime, placed after the procedure
 */
struct call_code {
	uint32_t area_at;
	uint32_t procedure;
	bool sites;
	enum call_metric metric;
	uint32_t handler;
	bool handles;
	struct call_cold_stub *cold_stubs;
	size_t cold_stub_count;
	size_t cold_stub_capacity;
};

void call_code_deinit(struct call_code *calls);

/**
 * call_code_outside() - check if the kernel calls the procedure, at entries from code outside
 * clones
 */
void call_code_outside(struct call_code *calls, const struct point *point,
		       struct machine_code *code);

/** call_code_enter() - emit CALL_OPERATION_ENTER or CALL_OPERATION_VISIT at an entry */
void call_code_enter(struct call_code *calls, const struct point *point, struct machine_code *code,
		     enum call_operation operation);

/** call_code_site() - store the number of the call site, before a call, in the caller's frame */
void call_code_site(const struct call_code *calls, const struct point *point,
		    struct machine_code *code, uint32_t site);

/** call_code_leave() - emit CALL_OPERATION_LEAVE or CALL_OPERATION_JUMP */
void call_code_leave(struct call_code *calls, const struct point *point, struct machine_code *code,
		     enum call_operation operation);

/** call_code_rare() - emit CALL_OPERATION_NORETURN or CALL_OPERATION_RESUME */
void call_code_rare(const struct call_code *calls, const struct point *point,
		    struct machine_code *code, enum call_operation operation);

/** call_code_emit_cold_stubs() - emit the cold stubs, after all other code */
void call_code_emit_cold_stubs(const struct call_code *calls, struct machine_code *code);

#endif
