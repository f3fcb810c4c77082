/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What registers mean to an image's procedures where one calls another, beyond the ABI: who looks
 * at what its caller left in a register, and who relies on what whom it calls leaves in it.
 *
 * Compilers know both of procedures that they compile together (gcc's -fipa-ra), and assembly does
 * as it likes. So all that is reached by direct calls and jumps is followed from procedure to
 * procedure. Of LIVENESS_LOOSE, registers that no compiler makes a result of, one is free behind a
 * procedure's returns if
 *
 *	callers must know it to be changed: the procedure writes it, or so does whom it calls, as
 *the ABI permits it to the world outside; no code can be found to look at it there before it is
 *written again. (Unless the procedure may call the world outside: then what is in it is nobody's,
 *however it got there); no instruction writes it for nobody: that is meant for somebody, as a
 *result or since it is given back as it was (convention_flow_given()); no code that is not
 *understood calls the procedure, as far as its bytes can tell.
 *
 * Where the world outside is called it is taken to look at all registers, but for r10 and r11,
 * unless the caller gives these a value for it; so is who is called by a pointer, if the image has
 * no procedure whose address is known and that looks at r10 or r11 first of all. Behind returns to
 * the world outside none of LIVENESS_LOOSE matters: procedures that it calls by Microsoft's ABI, in
 * which it has rsi and rdi kept, must give them back in instructions that do nothing else.
 */
#ifndef DCPI_INSTRUMENT_CONVENTION_H
#define DCPI_INSTRUMENT_CONVENTION_H

#include "instrument/copy/candidate.h"

/**
 * convention_find() - fill in @calls of all candidates whose graph has no missing edges
 *
 * A fixed point over the image: each procedure is looked at some five times, in all.
 *
 * Return: 0 or -ENOMEM.
 */
int convention_find(struct candidates *candidates);

#endif
