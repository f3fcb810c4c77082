/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places in a procedure's copy where code of a mode can be put, what is live there, and
 * registers to work with: those that are free, else some that are kept on the stack
 * meanwhile. (A place of the thread's own would not do for that: a signal's handler, which
 * may be rewritten too, could come in between.)
 *
 * Every edge of the graph (count_graph.h) is such a place, by which all ways into, through
 * and out of a procedure can be told:
 *
 *	COUNT_ENTER	entry, before all else
 *	COUNT_CALL	before a call, or a system call
 *	COUNT_BACK	when it has come back
 *	COUNT_NEXT, COUNT_TAKEN, COUNT_JUMP	on the way; on code aside if there is no room
 *	COUNT_TO_HUB	before an indirect jump
 *	COUNT_FROM_HUB, COUNT_CATCH	between such a jump (an unwinder) and its target
 *	COUNT_LEAVE	before a return, a tail call, a trap or a call that never comes back
 *
 * Not a place is COUNT_LEAVE from a hub: some case of a jump table is another procedure.
 */
#ifndef DCPI_INSTRUMENT_POINT_H
#define DCPI_INSTRUMENT_POINT_H

#include <stdbool.h>
#include <stdint.h>

#include "instrument/code/machine_code.h"

/** enum point_kind - what a point is. In a node they come in this order. */
enum point_kind {
	POINT_OUTSIDE,	 /* on entry by others than copies, before all else */
	POINT_EDGE,	 /* on an edge of the graph */
	POINT_ARRIVAL,	 /* before a node, from the check of a way back in the other copy */
	POINT_START,	 /* of a node */
	POINT_REFERENCE, /* before an instruction that reads or writes memory */
	POINT_END,	 /* of a node, before the instruction that makes control go elsewhere */
};

/**
 * struct point - a place for code
 * @edge: of the graph; of POINT_EDGE, and of POINT_OUTSIDE that of the entry
 * @node: that the point is in; of edges, the node they come from, else the one they go to
 * @insn: that the code is put before; of POINT_REFERENCE only
 * @crosses: of POINT_EDGE: behind it there is a check that always leads to the other copy
 * @measures: false: it is in the one of two copies that only counts (mode.h, both)
 * @turn: of POINT_EDGE: of a loop that is put several times (mode.h, loops), which one ends
 * @live: registers and flags that matter (liveness.h), also afterwards
 * @free: registers that may be changed
 * @red_zone: the 128 bytes below the stack pointer may matter
 * @shun: registers that point_borrow() is not to choose; none unless a mode says so
 *
 * @live, @free and @red_zone are known to emit() of a mode, not yet to wants() (mode.h).
 */
struct point {
	enum point_kind kind;
	uint32_t edge;
	uint32_t node;
	uint32_t insn;
	bool crosses;
	bool measures;
	uint32_t turn;
	uint32_t live;
	uint32_t free;
	bool red_zone;
	uint32_t shun;
};

#define POINT_REGISTERS_MAX 6

/**
 * struct point_loan - registers that code of ours works with
 * @registers: numbers, @count of them, in no order: those named are not among them
 * @depth:     bytes that the stack pointer is below where the program has it
 * @flags:     of the program, are kept meanwhile
 */
struct point_loan {
	uint8_t registers[POINT_REGISTERS_MAX];
	unsigned int count;
	unsigned int depth;
	uint32_t pushed; /* which are on the stack */
	bool lowered;
	bool flags;
	bool flags_pushed;
};

/**
 * point_borrow() - make room to work at a point
 * @ret:   out; to be given to point_give_back() where the code of ours ends
 * @named: set of registers that are needed (rdtsc's, say); not the stack pointer. Their
 *         values are kept for the program, not for the code: %rax has flags
 * @count: how many others, at most POINT_REGISTERS_MAX
 * @flags: the code is going to change flags
 *
 * Costs nothing where enough is free. The code must leave the stack pointer as it finds
 * it; the carry counts as one of the flags.
 */
void point_borrow(struct machine_code *code, const struct point *point, uint32_t named,
		  unsigned int count, bool flags, struct point_loan *ret);

/** point_free() - how many registers point_borrow() finds free, but those of @named. */
unsigned int point_free(const struct point *point, uint32_t named);

/** point_give_back() - all as it was. */
void point_give_back(struct machine_code *code, const struct point_loan *loan);

#endif
