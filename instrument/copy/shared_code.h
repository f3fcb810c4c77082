/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that belongs to two procedures: one jumps behind the entry of the other, and has it
 * as a part of its own. Where the one stays as it is and the other was copied, control
 * still arrives in the other's old code. Internal to the rewriter.
 */
#ifndef DCPI_INSTRUMENT_SHARED_CODE_H
#define DCPI_INSTRUMENT_SHARED_CODE_H

struct candidates;

/**
 * shared_code_keep() - keep copied procedures whose old code is still run by one that stays,
 * if jumps to the new code were put where they are in its way
 *
 * To be called when all are copied and planned (old_code_plan()), before anything is
 * written. What is kept now has counters already, which nobody counts in.
 */
void shared_code_keep(struct candidates *candidates);

#endif
