/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operands of x86 instructions. Only for insn_x86*.c.
 */
#ifndef DCPI_INSN_X86_OPERAND_H
#define DCPI_INSN_X86_OPERAND_H

#include <Zydis/Zydis.h>

#include "analysis/insn/insn.h"

/* Numbers of integer registers with a special role in some instruction. */
enum insn_x86_register {
	X86_RAX,
	X86_RCX,
	X86_RDX,
	X86_RBX,
	X86_RSP,
	X86_RBP,
	X86_RSI,
	X86_RDI,
	X86_R8,
	X86_R9,
	X86_R10,
};

/** struct insn_x86 - a Zydis instruction with its hidden operands. */
struct insn_x86 {
	ZydisDecodedInstruction zydis;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/** insn_x86_register_number() - return the number of insn.h, or INSN_REG_NONE if there is none. */
uint8_t insn_x86_register_number(ZydisRegister reg);

/** insn_x86_operands_add() - add operands: registers, memory, immediates and targets. */
void insn_x86_operands_add(struct insn *insn, const struct insn_x86 *x86);

/** insn_x86_flags_add() - add flags read and written. */
void insn_x86_flags_add(struct insn *insn, const struct insn_x86 *x86);

/** insn_x86_add_run() - add registers @first .. @first + @count - 1. */
void insn_x86_add_run(struct insn_regs *set, unsigned int first, unsigned int count);

#endif
