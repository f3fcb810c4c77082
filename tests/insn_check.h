/* SPDX-License-Identifier: GPL-2.0-only */
/* Invariants of every decoded instruction, and instructions as text. */
#ifndef DCPI_TESTS_INSN_CHECK_H
#define DCPI_TESTS_INSN_CHECK_H

#include "analysis/insn/insn.h"

#define INSN_DESCRIPTION_BYTES 512

/** insn_check() - Return: the violated invariant, or NULL */
const char *insn_check(const struct insn *insn, const struct insn_decoder *decoder);

/**
 * insn_check_bytes() - decode and format @bytes bytes, at most a page
 *
 * Checks that lengths are valid, that no byte after the code is read, that the same bytes decode to
 * the same instruction, that fewer bytes do not decode, and insn_check(). Return: as insn_check().
 */
const char *insn_check_bytes(const uint8_t *code, size_t bytes, uint64_t address,
			     const struct insn_decoder *decoder);

/**
 * insn_describe() - describe an instruction for comparison with an example
 * "TEXT; FLOW CLASS FLAGS; reads; writes; memory, target, immediate if there are any"
 */
void insn_describe(char text[INSN_DESCRIPTION_BYTES], const uint8_t *code, size_t bytes,
		   uint64_t address, const struct insn_decoder *decoder);

#endif
