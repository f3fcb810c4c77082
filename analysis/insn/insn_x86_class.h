/* SPDX-License-Identifier: GPL-2.0-only */
/* What kind of work an x86 instruction is. For insn_x86.c alone. */
#ifndef DCPI_INSN_X86_CLASS_H
#define DCPI_INSN_X86_CLASS_H

#include <Zydis/Zydis.h>

#include "analysis/insn/insn.h"

/* Kinds of registers among the operands that the text shows, addresses left out. */
#define INSN_X86_INTEGER 1U
#define INSN_X86_VECTOR 2U /* FP, vector and mask registers */
#define INSN_X86_SYSTEM 4U /* segment, control and the like */

/**
 * insn_x86_class() - of a decoded instruction
 * @kinds: of registers, INSN_X86_*
 * @flags: INSN_READS_MEMORY, INSN_WRITES_MEMORY
 */
enum insn_class insn_x86_class(const ZydisDecodedInstruction *zydis, unsigned int kinds,
			       unsigned int flags);

#endif
