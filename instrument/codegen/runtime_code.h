/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Emit code that makes sure that a thread has a block of memory for its recording, at the %gs base,
 * which programs for x86-64 do not use.
 */
#ifndef DCPI_INSTRUMENT_RUNTIME_CODE_H
#define DCPI_INSTRUMENT_RUNTIME_CODE_H

#include "instrument/codegen/machine_code.h"

/* Arguments of machine_code_enter() that are not numbers of procedures. */
#define RUNTIME_CODE_ENTER UINT32_MAX
#define RUNTIME_CODE_SLOW (UINT32_MAX - 2)
#define RUNTIME_CODE_GUARD (UINT32_MAX - 1) /* word that a fork clears: @process_ready */
#define RUNTIME_CODE_SLOT (UINT32_MAX - 5)  /* 8 bytes: @slot of a shared object */

/* Registers by which the runtime recognises a signal handler that the kernel has called. No
 * inserted code that runs before this check changes them. */
#define RUNTIME_CODE_HANDLED                                                                       \
	(1U << MACHINE_RAX | 1U << MACHINE_RDX | 1U << MACHINE_RSI | 1U << MACHINE_RDI)

/**
 * struct runtime_code - state that the inserted code finds at run time
 * @slot:  offset from the thread pointer of a word that equals @ready once the runtime knows the
 *         thread
 * @ready, @process_ready: @ready - @process_ready overflows, unlike the difference of any other
 *                         values that the two words can have
 * @shared: @slot is not known before the image is loaded
 */
struct runtime_code {
	int64_t slot;
	uint32_t ready;
	uint32_t process_ready;
	bool shared;
};

struct point;
struct scratch_regs;

/**
 * runtime_code_check() - emit a check that the thread is known and that the process has not forked
 * @otherwise: label to branch to if not; runtime_code_enter() is to follow there
 * @scratch:   out; to be passed to runtime_code_enter()
 *
 * Live registers and flags are preserved.
 */
void runtime_code_check(struct machine_code *code, const struct runtime_code *runtime,
			const struct point *point, uint32_t otherwise,
			struct scratch_regs *scratch);

/** runtime_code_enter() - emit a call of the runtime, with the scratch registers of the check. */
void runtime_code_enter(struct machine_code *code, const struct scratch_regs *scratch);

/**
 * runtime_code_slow() - emit a call of the mode's slow path (runtime/runtime_mode.h)
 * @operation: below 32768, defined by the mode
 * @argument:  defined by the mode
 * @depth:     number of bytes by which the stack pointer is already below the program's
 *             (scratch_regs)
 *
 * Preserves all registers and flags, whether they are live or not.
 */
void runtime_code_slow(struct machine_code *code, const struct point *point, unsigned int depth,
		       uint16_t operation, int32_t argument);

#endif
