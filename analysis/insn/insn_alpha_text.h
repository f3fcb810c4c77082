/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Alpha instructions as text, as objdump has it and DCPI's figures: software names
 * of registers, and the pseudo-instructions that assemblers know (mov, clr, unop).
 */
#ifndef DCPI_INSN_ALPHA_TEXT_H
#define DCPI_INSN_ALPHA_TEXT_H

#include "analysis/insn/insn.h"

/** insn_alpha_format() - insn_decoder.format of Alpha. */
int insn_alpha_format(char text[INSN_TEXT_BYTES], const uint8_t *code, size_t bytes,
		      uint64_t address);

#endif
