/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Alpha instructions as text, as in objdump and DCPI's figures: software names of registers, and
 * the assemblers' pseudo-instructions (mov, clr, unop).
 */
#ifndef DCPI_INSN_ALPHA_TEXT_H
#define DCPI_INSN_ALPHA_TEXT_H

#include "analysis/insn/insn.h"

/** insn_alpha_format() - implement insn_decoder.format for Alpha. */
int insn_alpha_format(char text[INSN_TEXT_BYTES], const uint8_t *code, size_t bytes,
		      uint64_t address);

#endif
