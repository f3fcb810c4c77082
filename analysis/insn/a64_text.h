/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCPI_A64_TEXT_H
#define DCPI_A64_TEXT_H

#include "analysis/insn/a64.h"

/**
 * a64_text() - format instructions that Capstone 4 does not know although they are common: atomic
 * operations and pointer authentication
 *
 * Return: false for other instructions.
 */
bool a64_text(char text[INSN_TEXT_BYTES], uint32_t word);

#endif
