/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCPI_A64_INTEGER_H
#define DCPI_A64_INTEGER_H

#include "analysis/insn/a64.h"

/**
 * a64_immediate_decode() - decode data processing with immediates
 *
 * Sets all members of @insn except address, bytes, opcode and the empty operands, which the caller
 * has set. Return: false if undefined.
 */
bool a64_immediate_decode(struct insn *insn, uint32_t word);

/** a64_register_decode() - decode data processing with registers, in the same way. */
bool a64_register_decode(struct insn *insn, uint32_t word);

#endif
