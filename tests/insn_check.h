/* SPDX-License-Identifier: GPL-2.0-only */
/* What must hold for whatever a decoder makes of any bytes, and insns as text. */
#ifndef DCPI_TESTS_INSN_CHECK_H
#define DCPI_TESTS_INSN_CHECK_H

#include "analysis/insn/insn.h"

#define INSN_DESCRIPTION_BYTES 512

/** insn_check() - Return: what is wrong with it; NULL if nothing is. */
const char *insn_check(const struct insn *insn, const struct insn_decoder *decoder);

/**
 * insn_check_bytes() - decode and format bytes, of which there are @bytes, <= a page
 *
 * Lengths, that nothing is read behind them, that the same bytes give the same
 * again, fewer nothing, and insn_check(). Return: as insn_check().
 */
const char *insn_check_bytes(const uint8_t *code, size_t bytes, uint64_t address,
			     const struct insn_decoder *decoder);

/**
 * insn_describe() - for comparison with what an example should be:
 * "TEXT; FLOW CLASS FLAGS; reads; writes; memory, target, immediate if there are any"
 */
void insn_describe(char text[INSN_DESCRIPTION_BYTES], const uint8_t *code, size_t bytes,
		   uint64_t address, const struct insn_decoder *decoder);

#endif
