/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find which registers and flags of an x86-64 procedure are live at a point, so that code inserted
 * there may clobber the others. This is a backward data-flow problem over the control-flow graph.
 *
 * A register that is written neither by the procedure nor by its callees is not free anywhere:
 * callers may have been compiled in the knowledge that the procedure preserves it (gcc's -fipa-ra).
 */
#ifndef DCPI_INSTRUMENT_LIVENESS_H
#define DCPI_INSTRUMENT_LIVENESS_H

#include "analysis/graph/cfg.h"

/* A set of registers and flags: bit i is integer register i of the instruction set. */
#define LIVENESS_REGISTERS 0xffffU
#define LIVENESS_CARRY 0x10000U
#define LIVENESS_OVERFLOW 0x20000U
#define LIVENESS_FLAGS 0x70000U /* all flags: also sign, zero and parity */

/*
 * Registers in which no compiler returns a value: rsi, rdi, r9, r10, r11. Their uses across calls
 * and returns can be known (liveness_calls); all other registers are assumed to be live there.
 */
#define LIVENESS_NO_RESULT 0x0ec0U
/* Caller-saved registers of the ABI. */
#define LIVENESS_SCRATCH 0x0fc7U

/**
 * struct liveness_call - effects of a call, or of a jump out of a procedure, on LIVENESS_NO_RESULT
 * @uses: registers that may be read by the callee
 * @ends: registers whose values are dead after the call has returned
 */
struct liveness_call {
	uint16_t uses;
	uint16_t ends;
};

/**
 * struct liveness_calls - known facts about a procedure's callees and callers
 * @at:      for each call of the control-flow graph
 * @live_after:  registers of LIVENESS_NO_RESULT that callers may read after the procedure returns
 * @changed: registers that callers know to be clobbered, besides those that the procedure writes
 */
struct liveness_calls {
	struct liveness_call *at;
	uint16_t live_after;
	uint16_t changed;
};

/**
 * struct liveness - zero-initialised is empty; freed by liveness_deinit()
 * @in:      live at the start of each block
 * @out:     live at the end of each block
 * @calls:   NULL: nothing is known
 * @changed: registers that callers know to be clobbered
 * @across:  flags may be live across calls, returns and jumps to other procedures
 * @begins:  as @in, but with the lowest bytes of registers as separate members
 * @after:   cache for the block queried last: its number + 1, then the live set after each of its
 *           instructions
 */
struct liveness {
	const struct cfg *cfg;
	uint32_t *in;
	uint32_t *out;
	const struct liveness_calls *calls;
	uint32_t changed;
	uint64_t *begins;
	uint64_t *after;
	bool across;
};

/**
 * liveness_find() - solve the data-flow problem
 * @cfg:    has no missing edges
 * @calls:  not copied, must outlive @ret; NULL: nothing is known
 * @across: as in struct liveness; false for compiled code, may be true for assembly
 *
 * Return: 0 or -ENOMEM.
 */
int liveness_find(struct liveness *ret, const struct cfg *cfg, const struct liveness_calls *calls,
		  bool across);

void liveness_deinit(struct liveness *liveness);

/**
 * liveness_before() - return the live set before an instruction of a reached block
 *
 * Fast for instructions of the block queried last.
 *
 * Context: not for several threads at once.
 */
uint32_t liveness_before(const struct liveness *liveness, uint32_t insn);

/** liveness_after() - return the live set after an instruction, on the fall-through path. */
uint32_t liveness_after(const struct liveness *liveness, uint32_t insn);

/**
 * liveness_crosses() - return true if flags are live on entry or after a call
 *
 * All procedures of the image must then be analysed with @across.
 */
bool liveness_crosses(const struct liveness *liveness);

/**
 * liveness_is_read() - find out if a register of a set may be read after the end of a block, before
 * it is overwritten
 * @set: set of registers
 *
 * Unlike in the liveness analysis, calls and returns read no registers here: the function is for
 * values that have no use outside the procedure.
 *
 * O(instructions). Return: 1, 0 or -ENOMEM.
 */
int liveness_is_read(const struct liveness *liveness, uint32_t block, uint32_t set);

/**
 * struct liveness_effect - effect of one instruction; for a call, without that of the callee
 * @reads: registers that the instruction reads: bit i is register i without its lowest byte, bit
 *         LIVENESS_LOW + i is the lowest byte
 * @kills: in the same form, registers that are certainly overwritten
 * @writes: whole registers that may be written
 */
struct liveness_effect {
	uint32_t reads;
	uint32_t kills;
	uint16_t writes;
};

#define LIVENESS_LOW 16

struct liveness_effect liveness_effect(const struct insn *insn);

/** liveness_free_registers() - return the set of registers that may be clobbered where @live is
 * live. */
uint32_t liveness_free_registers(const struct liveness *liveness, uint32_t live);

#endif
