/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interpret a frame's call frame program, to translate it for clones of the code: in another order
 * of addresses, and with a temporarily lower stack pointer. Internal to unwind_*.c.
 */
#ifndef DCPI_INSTRUMENT_UNWIND_PROGRAM_H
#define DCPI_INSTRUMENT_UNWIND_PROGRAM_H

#include "instrument/elf/unwind_frames.h"
#include "lib/bounded_reader.h"

#define UNWIND_PROGRAM_STATES 8
#define UNWIND_PROGRAM_REGISTERS 16 /* DWARF numbers of the general registers */

/**
 * struct unwind_state - the relevant part of a frame's unwind rules
 * @reg, @offset: the canonical frame address (CFA) is @reg + @offset, if @plain
 * @plain: false: the CFA is computed by an expression
 * @kept:  set of registers that are saved in memory
 * @at:    offsets of the save slots from the CFA, in units of the data alignment
 */
struct unwind_state {
	uint64_t reg;
	int64_t offset;
	bool plain;
	uint32_t kept;
	int64_t at[UNWIND_PROGRAM_REGISTERS];
};

/**
 * struct unwind_program - interpreter state of a call frame program
 * @begin:   start of the next instruction
 * @at:      address of the original code that the next instruction applies to
 * @state:   unwind rules of the program; @depth: currently added to @state.offset; @popped: set of
 *           registers currently described as unchanged, see unwind_program_popped()
 * @initial: unwind rules after the CIE's program
 * @states:  remembered states; those beyond its end are unknown, although @state_count includes
 *           them
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

/** unwind_program_init() - position the interpreter before the first instruction. */
void unwind_program_init(struct unwind_program *program, const struct unwind_frames *frames,
			 const struct unwind_frame *frame);

/**
 * unwind_program_step() - execute the next instruction if it applies to an address up to @old
 * @begin, @end: out: bytes of the instruction, none if it only advances the address
 *
 * Return: true if there was an instruction.
 */
bool unwind_program_step(struct unwind_program *program, uint64_t old, const uint8_t **begin,
			 const uint8_t **end);

/** unwind_program_lowers() - return true if the CFA is relative to the stack pointer. */
bool unwind_program_lowers(const struct unwind_program *program);

/**
 * unwind_program_popped() - return the registers whose save slots are already below the stack
 * pointer, where inserted code may overwrite them. They have their original values again, although
 * the program still describes them as saved.
 */
uint32_t unwind_program_popped(const struct unwind_program *program);

#endif
