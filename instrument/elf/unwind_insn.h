/* SPDX-License-Identifier: GPL-2.0-only */
/* Instructions of frames' programs (DWARF 5, section 6.4.2). Internal to unwind_*.c. */
#ifndef DCPI_INSTRUMENT_UNWIND_INSN_H
#define DCPI_INSTRUMENT_UNWIND_INSN_H

#include "lib/bounded_reader.h"

/**
 * unwind_insn_next() - pass over one instruction of a frame's program
 * @advance: out: by how many bytes of code it moves on
 *
 * Return: 1; 0 at the end; -ENOTSUP.
 */
int unwind_insn_next(struct bounded_reader *reader, uint64_t *advance);

#endif
