/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCPI_A64_VECTOR_H
#define DCPI_A64_VECTOR_H

#include "analysis/insn/a64.h"

/**
 * a64_vector_decode() - decode FP and vector instructions
 *
 * Sets all members of @insn except address, bytes, opcode and the empty operands, which the caller
 * has set. Return: false if undefined.
 */
bool a64_vector_decode(struct insn *insn, uint32_t word);

#endif
