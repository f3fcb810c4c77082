/* SPDX-License-Identifier: GPL-2.0-only */
/* Decoders against binutils' objdump, over the code of a library. */
#ifndef DCPI_TESTS_INSN_OBJDUMP_H
#define DCPI_TESTS_INSN_OBJDUMP_H

#include "analysis/insn/insn.h"

/**
 * insn_objdump_compare() - lengths, control flow and targets
 * @objdump:  program
 * @path:     of the library
 * @prefixes: words before the mnemonic, ended by NULL
 * @flow_of:  what objdump's mnemonic and operands mean
 * @most:     instructions to look at
 *
 * Fails the test that calls it; skips it if there is no such program or library.
 */
void insn_objdump_compare(const char *objdump, const char *path, const struct insn_decoder *decoder,
			  const char *const *prefixes,
			  enum insn_flow (*flow_of)(const char *mnemonic, const char *operands),
			  unsigned int most);

#endif
