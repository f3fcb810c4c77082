/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Classification of x86 instructions. Only for insn_x86.c.
 */
#ifndef DCPI_INSN_X86_CLASS_H
#define DCPI_INSN_X86_CLASS_H

#include <Zydis/Zydis.h>

#include "analysis/insn/insn.h"

/* Kinds of registers among the visible operands, except address registers. */
#define INSN_X86_INTEGER 1U
#define INSN_X86_VECTOR 2U /* FP, vector and mask registers */
#define INSN_X86_SYSTEM 4U /* segment, control and similar registers */

/**
 * insn_x86_class() - return the class of a decoded instruction
 * @kinds: of registers, INSN_X86_*
 * @flags: INSN_READS_MEMORY, INSN_WRITES_MEMORY
 */
enum insn_class insn_x86_class(const ZydisDecodedInstruction *zydis, unsigned int kinds,
			       unsigned int flags);

#endif
