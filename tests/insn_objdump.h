/* SPDX-License-Identifier: GPL-2.0-only */
/* Comparison of the decoders with binutils' objdump, on the code of a library. */
#ifndef DCPI_TESTS_INSN_OBJDUMP_H
#define DCPI_TESTS_INSN_OBJDUMP_H

#include "analysis/insn/insn.h"

/**
 * insn_objdump_compare() - compare lengths, control flow and targets
 * @objdump:  program
 * @path:     path of the library
 * @prefixes: words before the mnemonic, terminated by NULL
 * @flow_of:  returns the control flow of objdump's mnemonic and operands
 * @most:     maximum number of instructions to compare
 *
 * Fails the calling test on a difference; skips it if the program or library does not exist.
 */
void insn_objdump_compare(const char *objdump, const char *path, const struct insn_decoder *decoder,
			  const char *const *prefixes,
			  enum insn_flow (*flow_of)(const char *mnemonic, const char *operands),
			  unsigned int most);

#endif
