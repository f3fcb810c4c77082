/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCPI_A64_TEXT_H
#define DCPI_A64_TEXT_H

#include "analysis/insn/a64.h"

/**
 * a64_text() - the text of what Capstone 4 knows nothing of, though it is in common
 * code: atomic operations and pointer authentication
 *
 * Return: false: it is none of these.
 */
bool a64_text(char text[INSN_TEXT_BYTES], uint32_t word);

#endif
