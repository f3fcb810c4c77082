/* SPDX-License-Identifier: GPL-2.0-only */
/* Instructions of call frame programs (DWARF 5, section 6.4.2). Internal to unwind_*.c. */
#ifndef DCPI_INSTRUMENT_UNWIND_INSN_H
#define DCPI_INSTRUMENT_UNWIND_INSN_H

#include "lib/bounded_reader.h"

/**
 * unwind_insn_next() - skip one instruction of a call frame program
 * @advance: out: number of bytes of code by which the instruction advances the address
 *
 * Return: 1; 0 at the end; -ENOTSUP.
 */
int unwind_insn_next(struct bounded_reader *reader, uint64_t *advance);

#endif
