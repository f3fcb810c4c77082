/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCPI_TESTS_INSN_EXAMPLES_H
#define DCPI_TESTS_INSN_EXAMPLES_H

#include "analysis/insn/insn.h"

/**
 * insn_examples_run() - decode the examples of a file at address 0x1000
 * @path: lines "BYTES = DESCRIPTION", with the description in the format of insn_describe()
 *
 * Fails the calling test after printing all differences.
 */
void insn_examples_run(const char *path, const struct insn_decoder *decoder);

#endif
