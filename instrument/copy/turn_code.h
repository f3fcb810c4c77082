/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What counts down to when the other copy of a procedure is to run (copier_turn.c): two
 * numbers of the thread's. Checks of the checking copy are thread-local, those of the recording
 * copy are in the thread's area, which the runtime makes.
 */
#ifndef DCPI_INSTRUMENT_TURN_CODE_H
#define DCPI_INSTRUMENT_TURN_CODE_H

#include "instrument/code/runtime_code.h"
#include "instrument/mode/mode.h"

/* Routines of the image's (machine_code_enter()), for where it is only looked and for checks, by
 * what they count down. */
#define TURN_CODE_LOOKED (UINT32_MAX - 6)
#define TURN_CODE_COUNTED(counter) (UINT32_MAX - 7 - (counter))

/** struct turn_number - 32 bits; the prefix of an instruction that uses it, and the offset. */
struct turn_number {
	uint8_t segment;
	uint32_t at;
};

/** turn_code_checks() - @counter: which, of several (copy_turns.counters) */
struct turn_number turn_code_checks(const struct runtime_code *runtime, uint32_t counter);
struct turn_number turn_code_records(const struct copy_turns *turns);

/** turn_code_count_down() - by one; the carry stays as it is. */
void turn_code_count_down(struct machine_code *code, struct turn_number number);

/** turn_code_compare() - with @with. */
void turn_code_compare(struct machine_code *code, struct turn_number number, int8_t with);

/**
 * turn_code_routine() - what checking copies call when their checks are below zero
 * @counts: at a check, which counts down @counter; else it looked at the first one
 *
 * Below the red zone; changes no register. Returns with the carry set if it is the other
 * copy's turn.
 */
void turn_code_routine(struct machine_code *code, const struct runtime_code *runtime,
		       const struct copy_turns *turns, bool counts, uint32_t counter);

/** turn_code_end() - a recording copy has recorded enough. Changes flags. @counter: that began it,
 * unless the mode has seen to that. */
void turn_code_end(struct machine_code *code, const struct runtime_code *runtime,
		   const struct copy_turns *turns, uint32_t counter);

#endif
