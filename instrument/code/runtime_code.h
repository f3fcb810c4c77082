/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code that sees to it that a thread has a block of memory for what is recorded, at
 * %gs' base, which programs for x86-64 do not use.
 */
#ifndef DCPI_INSTRUMENT_RUNTIME_CODE_H
#define DCPI_INSTRUMENT_RUNTIME_CODE_H

#include "instrument/code/machine_code.h"

/* What machine_code_enter() is given beside numbers of procedures. */
#define RUNTIME_CODE_ENTER UINT32_MAX
#define RUNTIME_CODE_SLOW (UINT32_MAX - 2)
#define RUNTIME_CODE_GUARD (UINT32_MAX - 1) /* a word: @process_ready unless it has forked */
#define RUNTIME_CODE_SLOT (UINT32_MAX - 5)  /* 8 bytes: of a shared object, @slot */

/* Registers by which the kernel is known to have called a handler of signals: nothing that comes
 * before that is found out changes them. */
#define RUNTIME_CODE_HANDLED                                                                       \
	(1U << MACHINE_RAX | 1U << MACHINE_RDX | 1U << MACHINE_RSI | 1U << MACHINE_RDI)

/**
 * struct runtime_code - what the code finds when it runs
 * @slot:  offset from the thread pointer of a word that is @ready when the thread is known
 *         to the runtime
 * @ready, @process_ready: @ready - @process_ready overflows, and does with nothing else that
 *         the words may be
 * @shared: @slot is only known when it is loaded
 */
struct runtime_code {
	int64_t slot;
	uint32_t ready;
	uint32_t process_ready;
	bool shared;
};

struct point;
struct point_loan;

/**
 * runtime_code_check() - is the thread known, and the process the one it was?
 * @otherwise: label to go to if not, where runtime_code_enter() is to follow
 * @loan:      out: to be given to that
 *
 * Registers and flags that are live stay as they are.
 */
void runtime_code_check(struct machine_code *code, const struct runtime_code *runtime,
			const struct point *point, uint32_t otherwise, struct point_loan *loan);

/** runtime_code_enter() - call the runtime, with what was borrowed for the check. */
void runtime_code_enter(struct machine_code *code, const struct point_loan *loan);

/**
 * runtime_code_slow() - call the mode's slow path (runtime/runtime_mode.h)
 * @operation: below 32768, the mode's own
 * @argument:  likewise
 * @depth:     bytes that the stack pointer is below the program's already (point_loan)
 *
 * Registers and flags stay as they are, whether they are live or not.
 */
void runtime_code_slow(struct machine_code *code, const struct point *point, unsigned int depth,
		       uint16_t operation, int32_t argument);

#endif
