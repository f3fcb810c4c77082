/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which registers and flags of an x86-64 procedure matter at a place, so that code put
 * there knows what it may change. A backward problem over the procedure's graph.
 *
 * A register that the procedure itself never writes is not free anywhere: callers may
 * have been compiled in the knowledge that it keeps it (gcc's -fipa-ra).
 */
#ifndef DCPI_INSTRUMENT_LIVENESS_H
#define DCPI_INSTRUMENT_LIVENESS_H

#include "analysis/graph/cfg.h"

/* A set: bit i is integer register i of the instruction set; and the flags. */
#define LIVENESS_REGISTERS 0xffffU
#define LIVENESS_CARRY 0x10000U
#define LIVENESS_OVERFLOW 0x20000U
#define LIVENESS_FLAGS 0x70000U /* with those of signs, zero and parity */

/**
 * struct liveness - zero-initialised is empty; freed by liveness_deinit()
 * @in:      live where each block begins
 * @out:     live behind each block
 * @written: registers that the procedure writes
 * @across:  flags may matter across calls, returns and jumps to other procedures
 * @begins:  as @in, but with lowest bytes of registers for themselves
 * @after:   of a block that was asked for: its number + 1, then what is so live behind each of
 *           its instructions
 */
struct liveness {
	const struct cfg *cfg;
	uint32_t *in;
	uint32_t *out;
	uint32_t written;
	uint64_t *begins;
	uint64_t *after;
	bool across;
};

/**
 * liveness_find() - solve it
 * @cfg:    without missing edges
 * @across: as above; compilers' code never does that, assembly may
 *
 * Return: 0 or -ENOMEM.
 */
int liveness_find(struct liveness *ret, const struct cfg *cfg, bool across);

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

/** liveness_free_registers() - set of those that may be changed where @live is live. */
uint32_t liveness_free_registers(const struct liveness *liveness, uint32_t live);

#endif
