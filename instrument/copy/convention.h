/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What registers mean to an image's procedures where one calls another, beyond the ABI: who looks
 * at what its caller left in a register, and who relies on what whom it calls leaves in it.
 *
 * Compilers know both of procedures that they compile together, and assembly does as it likes. So
 * all that is reached by direct calls is followed from procedure to procedure: a register that
 * no code can be found to look at behind a procedure's returns, before it is written again, is
 * free there. That is so of registers of LIVENESS_LOOSE only, of which no compiler makes a result,
 * and if
 *
 *	callers must know it to be changed: the procedure writes it, or so does whom it calls, as
 *the ABI permits it to the world outside; it has no value there that was meant for somebody
 *(convention_flow_given()); no code that is not understood calls the procedure, as far as its bytes
 *can tell.
 *
 * The world outside is taken to look at all registers where it is called, but for r10 and r11,
 * unless the caller gives these a value for it; and behind returns to it, at none of
 * LIVENESS_LOOSE.
 */
#ifndef DCPI_INSTRUMENT_CONVENTION_H
#define DCPI_INSTRUMENT_CONVENTION_H

#include "instrument/copy/candidate.h"

/**
 * convention_find() - fill in @calls of all candidates whose graph has no missing edges
 * Return: 0 or -ENOMEM.
 */
int convention_find(struct candidates *candidates);

#endif
