/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCPI_A64_INTEGER_H
#define DCPI_A64_INTEGER_H

#include "analysis/insn/a64.h"

/**
 * a64_immediate_decode() - data processing with immediates
 *
 * Sets all of @insn but address, bytes, opcode and the empty operands, which are set.
 * Return: false: undefined.
 */
bool a64_immediate_decode(struct insn *insn, uint32_t word);

/** a64_register_decode() - the same with registers. */
bool a64_register_decode(struct insn *insn, uint32_t word);

#endif
