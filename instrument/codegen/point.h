/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points in a procedure's clone where a mode may insert code, the live set there, and scratch
 * registers: free ones first, then others that are saved on the stack. (They cannot be saved in
 * memory of the thread, since a signal handler, which may be rewritten too, could overwrite it.)
 *
 * Every edge of the count graph (count_graph.h) is a point, so all paths into, through and out of a
 * procedure can be distinguished:
 *
 * 	COUNT_ENTER	at the entry, before everything else.
 * 	COUNT_CALL	before a call or a system call.
 * 	COUNT_BACK	after its return.
 * 	COUNT_NEXT, COUNT_TAKEN, COUNT_JUMP	on the edge; in out-of-line code if needed.
 * 	COUNT_TO_HUB	before an indirect jump.
 * 	COUNT_FROM_HUB, COUNT_CATCH	between an indirect jump (an unwinder) and its target.
 * 	COUNT_LEAVE	before a return, a tail call, a trap or a noreturn call.
 *
 * The only edge that is not a point is COUNT_LEAVE from a hub: a case of a jump table that leads to
 * another procedure.
 */
#ifndef DCPI_INSTRUMENT_POINT_H
#define DCPI_INSTRUMENT_POINT_H

#include <stdbool.h>
#include <stdint.h>

#include "instrument/codegen/machine_code.h"

/** enum point_kind - kind of a point. Points of a node come in this order. */
enum point_kind {
	POINT_OUTSIDE,	 /* entry from outside the clones */
	POINT_EDGE,	 /* edge of the count graph */
	POINT_ARRIVAL,	 /* before a node, from the other clone's check */
	POINT_START,	 /* start of a node */
	POINT_REFERENCE, /* before a memory access */
	POINT_END,	 /* end of a node, before control transfer */
};

/**
 * struct point - a point where code may be inserted
 * @edge: edge of the count graph, for POINT_EDGE; for POINT_OUTSIDE that of the entry
 * @node: that contains the point; for an edge its source node, or its destination if it has no
 *        source node
 * @insn: the instruction after the point; for POINT_REFERENCE only
 * @crosses: for POINT_EDGE: the point is followed by a check that always leads to the other clone
 * @measures: false: the point is in that one of two clones that only counts (mode.h, both)
 * @replica: for POINT_EDGE of an unrolled loop (mode.h, loops): number of the replica that ends
 * @live: registers and flags that are live (liveness.h), also after the inserted code
 * @free: registers that may be clobbered
 * @red_zone: the 128 bytes below the stack pointer may be live
 * @excluded: registers that scratch_acquire() is not to choose; none unless a mode sets them
 *
 * @live, @free and @red_zone are known to emit() of a mode, not yet to has_code() (mode.h).
 */
struct point {
	enum point_kind kind;
	uint32_t edge;
	uint32_t node;
	uint32_t insn;
	bool crosses;
	bool measures;
	uint32_t replica;
	uint32_t live;
	uint32_t free;
	bool red_zone;
	uint32_t excluded;
};

#define POINT_REGISTERS_MAX 6

/**
 * struct scratch_regs - scratch registers of inserted code
 * @registers: numbers of @count registers, in no order, without the named ones
 * @depth:     number of bytes by which the stack pointer is below the program's
 * @flags:     the program's flags are saved
 */
struct scratch_regs {
	uint8_t registers[POINT_REGISTERS_MAX];
	unsigned int count;
	unsigned int depth;
	uint32_t pushed; /* set of registers saved on the stack */
	bool lowered;
	bool flags;
	bool flags_pushed;
};

/**
 * scratch_acquire() - make scratch registers available at a point
 * @ret:   out; passed to scratch_release() at the end of the inserted code
 * @named: set of specific registers that are needed (for rdtsc, for example), without the stack
 *         pointer. Their values are saved for the program, but are undefined for the inserted code:
 *         %rax may hold flags
 * @count: number of other registers, at most POINT_REGISTERS_MAX
 * @flags: the inserted code changes flags
 *
 * Emits no code where enough registers are free. The inserted code must restore the stack pointer;
 * the carry counts as one of the flags.
 */
void scratch_acquire(struct machine_code *code, const struct point *point, uint32_t named,
		     unsigned int count, bool flags, struct scratch_regs *ret);

/** point_free() - return the number of registers that scratch_acquire() finds free, without @named.
 */
unsigned int point_free(const struct point *point, uint32_t named);

/** scratch_release() - restore registers, flags and stack pointer. */
void scratch_release(struct machine_code *code, const struct scratch_regs *scratch);

#endif
