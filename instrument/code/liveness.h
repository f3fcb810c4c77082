/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which registers and flags of an x86-64 procedure matter at a place, so that code put
 * there knows what it may change. A backward problem over the procedure's graph.
 *
 * A register that neither the procedure writes nor, as callers must know, whom it calls, is
 * not free anywhere: they may have been compiled in the knowledge that it keeps it (gcc's
 * -fipa-ra).
 */
#ifndef DCPI_INSTRUMENT_LIVENESS_H
#define DCPI_INSTRUMENT_LIVENESS_H

#include "analysis/graph/cfg.h"

/* A set: bit i is integer register i of the instruction set; and the flags. */
#define LIVENESS_REGISTERS 0xffffU
#define LIVENESS_CARRY 0x10000U
#define LIVENESS_OVERFLOW 0x20000U
#define LIVENESS_FLAGS 0x70000U /* with those of signs, zero and parity */

/*
 * Registers that no compiler returns anything in: rsi, rdi, r9, r10, r11. What becomes of
 * them at calls and returns can be known (liveness_calls); all others may always matter there.
 */
#define LIVENESS_LOOSE 0x0ec0U
/* What calls need not keep, by the ABI. */
#define LIVENESS_SCRATCH 0x0fc7U

/**
 * struct liveness_call - of a call, or a jump out of a procedure: registers of LIVENESS_LOOSE
 * @uses: that others may look at from there on
 * @ends: whose values have no use any more once it has come back
 */
struct liveness_call {
	uint16_t uses;
	uint16_t ends;
};

/**
 * struct liveness_calls - what is known of whom a procedure calls, and who calls it
 * @at:      for each of the graph's calls
 * @behind:  registers of LIVENESS_LOOSE that others may look at behind its returns
 * @changed: registers that it may change, as its callers know, beside those that it writes
 */
struct liveness_calls {
	struct liveness_call *at;
	uint16_t behind;
	uint16_t changed;
};

/**
 * struct liveness - zero-initialised is empty; freed by liveness_deinit()
 * @in:      live where each block begins
 * @out:     live behind each block
 * @calls:   NULL: nothing is known
 * @changed: registers that callers know to be changed
 * @across:  flags may matter across calls, returns and jumps to other procedures
 * @begins:  as @in, but with lowest bytes of registers for themselves
 * @after:   of a block that was asked for: its number + 1, then what is so live behind each of
 *           its instructions
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
 * liveness_find() - solve it
 * @cfg:    without missing edges
 * @calls:  kept, must outlive @ret; NULL: nothing is known
 * @across: as above; compilers' code never does that, assembly may
 *
 * Return: 0 or -ENOMEM.
 */
int liveness_find(struct liveness *ret, const struct cfg *cfg, const struct liveness_calls *calls,
		  bool across);

void liveness_deinit(struct liveness *liveness);

/**
 * liveness_before() - what is live before an instruction of a block that is reached
 *
 * Quick for instructions of the block that was asked for last. Not for several threads.
 */
uint32_t liveness_before(const struct liveness *liveness, uint32_t insn);

/** liveness_after() - behind it, on the way to the next instruction. */
uint32_t liveness_after(const struct liveness *liveness, uint32_t insn);

/**
 * liveness_crosses() - whether flags do matter on entry or behind a call
 *
 * Then all procedures of the image are to be looked at with @across.
 */
bool liveness_crosses(const struct liveness *liveness);

/**
 * liveness_is_read() - whether an instruction of the procedure may look at one of some
 * registers behind the end of a block, before that is written
 * @set: of registers
 *
 * Calls and returns look at nothing here, other than for what is live: this is for values
 * that nobody else has a use for.
 *
 * O(instructions). Return: 1, 0 or -ENOMEM.
 */
int liveness_is_read(const struct liveness *liveness, uint32_t block, uint32_t set);

/**
 * struct liveness_effect - of one instruction; of calls, other than what is called
 * @looks: registers that it looks at: bit i is all of a register but its lowest byte, bit
 *         LIVENESS_LOW + i that
 * @kills: likewise, what has another value for certain
 * @writes: what may have: whole registers
 */
struct liveness_effect {
	uint32_t looks;
	uint32_t kills;
	uint16_t writes;
};

#define LIVENESS_LOW 16

struct liveness_effect liveness_effect(const struct insn *insn);

/** liveness_free_registers() - set of those that may be changed where @live is live. */
uint32_t liveness_free_registers(const struct liveness *liveness, uint32_t live);

#endif
