/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Register conventions between an image's procedures, beyond the ABI: the registers through which a
 * procedure gets a value from its caller, and those in which callers rely on a value after a call.
 *
 * Compilers exploit both for procedures that they compile together (gcc's -fipa-ra), and assembly
 * follows no reg_summary. The analysis therefore follows direct calls and jumps from procedure to
 * procedure. Compilers return no values in registers of LIVENESS_NO_RESULT. One of them is free
 * after a procedure's returns if all of these hold:
 *
 * - Callers must know that the register is clobbered: the procedure or a callee writes it. Code
 *   outside the image may clobber every register that the ABI permits.
 * - No code can be found that reads the register after a return before writing it. This is not
 *   required if the procedure may call code outside the image: then no caller can rely on the
 *   value.
 * - No instruction of the procedure writes the register without a known reader. That value would be
 *   meant for the caller, as a result or as a restored value (reg_summary_flow_outgoing()).
 * - No code that could not be analysed calls the procedure, as far as its bytes show.
 *
 * A call of code outside the image is assumed to read all registers except r10 and r11, and these
 * two only if the caller gives them a value for it. The same holds for an indirect call, unless the
 * image has an address-taken procedure that reads r10 or r11 before anything else.
 *
 * After a return to code outside the image, no register of LIVENESS_NO_RESULT is live. If outside
 * code calls a procedure by Microsoft's ABI, it expects rsi and rdi to be preserved. That procedure
 * must restore them by instructions that have no other purpose.
 */
#ifndef DCPI_INSTRUMENT_REG_SUMMARY_H
#define DCPI_INSTRUMENT_REG_SUMMARY_H

#include "instrument/clone/candidate.h"

/**
 * reg_summary_find() - fill in @calls of all candidates whose graph has no missing edges
 *
 * Computes a fixed point over the image: each procedure is visited about five times in total.
 *
 * Return: 0 or -ENOMEM.
 */
int reg_summary_find(struct candidates *candidates);

#endif
