/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Assembler text of x86 instructions, in AT&T syntax. Only for insn_x86.c.
 */
#ifndef DCPI_INSN_X86_TEXT_H
#define DCPI_INSN_X86_TEXT_H

#include <Zydis/Zydis.h>

#include "analysis/insn/insn.h"

/** insn_x86_text() - format a decoded instruction with its visible operands. */
int insn_x86_text(char text[INSN_TEXT_BYTES], const ZydisDecodedInstruction *zydis,
		  const ZydisDecodedOperand *operands, uint64_t address);

#endif
