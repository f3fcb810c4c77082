/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a frame's program says of an address, told again for copies of code: in another order
 * than it was, and with a stack pointer that is lower for a while. Internal to unwind_*.c.
 */
#ifndef DCPI_INSTRUMENT_UNWIND_PROGRAM_H
#define DCPI_INSTRUMENT_UNWIND_PROGRAM_H

#include "instrument/elf/unwind_frames.h"
#include "lib/bounded_reader.h"

#define UNWIND_PROGRAM_STATES 8
#define UNWIND_PROGRAM_REGISTERS 16 /* by DWARF's numbers: the general ones */

/**
 * struct unwind_state - a frame, as far as it matters
 * @reg, @offset: what it is told by
 * @plain: by these; else by something that is computed
 * @kept:  registers that are in memory
 * @at:    where, from the frame, in units of the alignment of data
 */
struct unwind_state {
	uint64_t reg;
	int64_t offset;
	bool plain;
	uint32_t kept;
	int64_t at[UNWIND_PROGRAM_REGISTERS];
};

/**
 * struct unwind_program - a frame's, being followed
 * @begin:   of the next instruction
 * @at:      the old address that this is about
 * @state:   as the program has it; @depth: what is added to its offset now; @popped: registers
 *           that are said to be what they were, of unwind_program_popped()
 * @initial: what frames have in common
 * @states:  remembered; @state_count: more than there is room for: not known any more
 */
struct unwind_program {
	struct bounded_reader reader;
	const uint8_t *begin;
	uint64_t at;
	int64_t data_align;
	struct unwind_state state;
	struct unwind_state initial;
	struct unwind_state states[UNWIND_PROGRAM_STATES];
	size_t state_count;
	uint32_t depth;
	uint32_t popped;
};

/** unwind_program_init() - before the first instruction. */
void unwind_program_init(struct unwind_program *program, const struct unwind_frames *frames,
			 const struct unwind_frame *frame);

/**
 * unwind_program_step() - pass over one that is about an address up to @old
 * @begin, @end: out: its bytes, none if it only moves on
 *
 * Return: whether there was one.
 */
bool unwind_program_step(struct unwind_program *program, uint64_t old, const uint8_t **begin,
			 const uint8_t **end);

/** unwind_program_lowers() - whether a lower stack pointer makes a difference. */
bool unwind_program_lowers(const struct unwind_program *program);

/**
 * unwind_program_popped() - registers that were in memory which is below the stack pointer by
 * now, where code of ours may put something else; they are what they were again, but this is
 * not said of them
 */
uint32_t unwind_program_popped(const struct unwind_program *program);

#endif
