/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code that counts, and that sees to it that there is somewhere to count. Counters
 * are relative to %gs, which programs for x86-64 do not use: one instruction counts for
 * the thread that executes it.
 */
#ifndef DCPI_INSTRUMENT_COUNT_CODE_H
#define DCPI_INSTRUMENT_COUNT_CODE_H

#include "instrument/machine_code.h"

/* What machine_code_enter() is given beside numbers of procedures. */
#define COUNT_RUNTIME_ENTER UINT32_MAX
#define COUNT_RUNTIME_GUARD                                                                        \
	(UINT32_MAX - 1) /* a word that is @ready unless the process has forked */

/**
 * struct count_runtime - what the code finds when it runs
 * @slot:    offset from the thread pointer of a word that is @ready when the thread is
 *           known to the runtime
 * @counters: offset from %gs' base of the first counter, 8 bytes each
 */
struct count_runtime {
	int64_t slot;
	uint32_t ready;
	uint32_t counters;
};

/**
 * count_code_add() - count one
 * @at:    offset of the counter from %gs' base
 * @flags: flags but the carry may be changed
 * @reg:   a register that may be changed, or -1
 */
void count_code_add(struct machine_code *code, uint32_t at, bool flags, int reg);

/**
 * count_code_check() - is the thread known, and the process the one it was?
 * @otherwise: label to go to if not, where count_code_enter() is to follow
 *
 * Changes flags.
 */
void count_code_check(struct machine_code *code, const struct count_runtime *runtime,
		      uint32_t otherwise);

/** count_code_enter() - call the runtime. Changes flags. */
void count_code_enter(struct machine_code *code);

#endif
