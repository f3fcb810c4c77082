// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/elf/unwind_program.h"

#include <dwarf.h>

#include "instrument/elf/unwind_cie.h"
#include "instrument/elf/unwind_insn.h"

#define DWARF_RSP 7

static void remember(struct unwind_program *program)
{
	if (program->state_count < UNWIND_PROGRAM_STATES)
		program->states[program->state_count] = program->state;
	program->state_count++;
}

static void restore(struct unwind_program *program)
{
	if (program->state_count > 0)
		program->state_count--;
	if (program->state_count < UNWIND_PROGRAM_STATES)
		program->state = program->states[program->state_count];
	else
		program->state.plain = false;
}

static void unwind_program_keep(struct unwind_program *program, uint64_t reg, int64_t at)
{
	if (reg >= UNWIND_PROGRAM_REGISTERS)
		return;
	program->state.kept |= 1U << reg;
	program->state.at[reg] = at;
}

/* @again: restore the rule of the CIE */
static void unwind_program_forget(struct unwind_program *program, uint64_t reg, bool again)
{
	if (reg >= UNWIND_PROGRAM_REGISTERS)
		return;
	program->state.kept &= ~(1U << reg);
	if (!again)
		return;
	program->state.kept |= program->initial.kept & 1U << reg;
	program->state.at[reg] = program->initial.at[reg];
}

/* Return: true if the instruction is a rule of one register. */
static bool follow_register(struct unwind_program *program, uint8_t opcode,
			    struct bounded_reader *own)
{
	uint64_t reg;

	switch (opcode & 0xc0) {
	case DW_CFA_offset:
		unwind_program_keep(program, opcode & 0x3f, (int64_t)bounded_reader_uleb128(own));
		return true;
	case DW_CFA_restore:
		unwind_program_forget(program, opcode & 0x3f, true);
		return true;
	}
	switch (opcode) {
	case DW_CFA_offset_extended:
		reg = bounded_reader_uleb128(own);
		unwind_program_keep(program, reg, (int64_t)bounded_reader_uleb128(own));
		return true;
	case DW_CFA_offset_extended_sf:
		reg = bounded_reader_uleb128(own);
		unwind_program_keep(program, reg, bounded_reader_sleb128(own));
		return true;
	case DW_CFA_restore_extended:
		unwind_program_forget(program, bounded_reader_uleb128(own), true);
		return true;
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		unwind_program_forget(program, bounded_reader_uleb128(own), false);
		return true;
	}
	return false;
}

/* Apply one instruction to the state. */
static void unwind_program_follow(struct unwind_program *program, const uint8_t *begin,
				  const uint8_t *end)
{
	struct unwind_state *state = &program->state;
	struct bounded_reader own;
	uint8_t opcode;

	bounded_reader_init(&own, begin, (size_t)(end - begin));
	opcode = bounded_reader_u8(&own);
	if (follow_register(program, opcode, &own))
		return;
	switch (opcode) {
	case DW_CFA_def_cfa:
		state->reg = bounded_reader_uleb128(&own);
		state->offset = (int64_t)bounded_reader_uleb128(&own);
		state->plain = true;
		break;
	case DW_CFA_def_cfa_sf:
		state->reg = bounded_reader_uleb128(&own);
		state->offset = bounded_reader_sleb128(&own) * program->data_align;
		state->plain = true;
		break;
	case DW_CFA_def_cfa_register:
		state->reg = bounded_reader_uleb128(&own);
		break;
	case DW_CFA_def_cfa_offset:
		state->offset = (int64_t)bounded_reader_uleb128(&own);
		break;
	case DW_CFA_def_cfa_offset_sf:
		state->offset = bounded_reader_sleb128(&own) * program->data_align;
		break;
	case DW_CFA_def_cfa_expression:
		state->plain = false;
		break;
	case DW_CFA_remember_state:
		remember(program);
		break;
	case DW_CFA_restore_state:
		restore(program);
		break;
	default:
		break;
	}
}

bool unwind_program_step(struct unwind_program *program, uint64_t old, const uint8_t **begin,
			 const uint8_t **end)
{
	uint64_t advance;

	if (program->at > old)
		return false;
	if (unwind_insn_next(&program->reader, &advance) <= 0) {
		program->at = UINT64_MAX;
		return false;
	}
	program->at += advance;
	*begin = *end = program->reader.position;
	if (advance == 0 && *program->begin != DW_CFA_nop)
		*begin = program->begin;
	program->begin = program->reader.position;
	if (*begin < *end)
		unwind_program_follow(program, *begin, *end);
	return true;
}

void unwind_program_init(struct unwind_program *program, const struct unwind_frames *frames,
			 const struct unwind_frame *frame)
{
	const struct unwind_cie *cie = &frames->cies[frame->cie];
	const uint8_t *begin, *end;

	*program = (struct unwind_program){.begin = cie->program, .data_align = cie->data_align};
	bounded_reader_init(&program->reader, cie->program, cie->program_bytes);
	while (unwind_program_step(program, UINT64_MAX, &begin, &end))
		;
	program->initial = program->state;
	bounded_reader_init(&program->reader, frame->program, frame->program_bytes);
	program->begin = frame->program;
	program->at = frame->start;
}

bool unwind_program_lowers(const struct unwind_program *program)
{
	return program->state.plain && program->state.reg == DWARF_RSP;
}

uint32_t unwind_program_popped(const struct unwind_program *program)
{
	const struct unwind_state *state = &program->state;
	uint32_t popped = 0;

	if (!unwind_program_lowers(program))
		return 0;
	for (unsigned int reg = 0; reg < UNWIND_PROGRAM_REGISTERS; reg++) {
		if (state->kept & 1U << reg &&
		    state->at[reg] * program->data_align < -state->offset)
			popped |= 1U << reg;
	}
	return popped;
}
