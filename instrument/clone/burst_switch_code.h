/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of a thread that decide when the other clone of a procedure is to run (clone_switch.c).
 * The counters of checking clones are thread-local. The counter of recording clones is in the
 * thread's area, which the runtime allocates.
 */
#ifndef DCPI_INSTRUMENT_BURST_SWITCH_CODE_H
#define DCPI_INSTRUMENT_BURST_SWITCH_CODE_H

#include "instrument/codegen/runtime_code.h"
#include "instrument/mode/mode.h"

/* Routines of the image for machine_code_enter(): after a test of the first counter, and after a
 * check that counts down @counter. */
#define BURST_SWITCH_CODE_TESTED (UINT32_MAX - 6)
#define BURST_SWITCH_CODE_COUNTED(counter) (UINT32_MAX - 7 - (counter))

/** struct switch_counter - a counter of 32 bits: its segment prefix and its offset. */
struct switch_counter {
	uint8_t segment;
	uint32_t at;
};

/** burst_switch_code_checks() - return a check counter; @counter: its index (burst_switch.counters)
 */
struct switch_counter burst_switch_code_checks(const struct runtime_code *runtime,
					       uint32_t counter);
struct switch_counter burst_switch_code_records(const struct burst_switch *bursts);

/** burst_switch_code_count_down() - decrement a counter; the carry stays. */
void burst_switch_code_count_down(struct machine_code *code, struct switch_counter number);

/** burst_switch_code_compare() - compare a counter with @with. */
void burst_switch_code_compare(struct machine_code *code, struct switch_counter number,
			       int8_t with);

/**
 * burst_switch_code_routine() - emit the routine that checking clones call if a check counter is
 * below zero
 * @counts: called by a check that counts down @counter; false: called after a test of the first
 *          counter
 *
 * To be called below the red zone; changes no register. Returns with the carry set if the other
 * clone is to run.
 */
void burst_switch_code_routine(struct machine_code *code, const struct runtime_code *runtime,
			       const struct burst_switch *bursts, bool counts, uint32_t counter);

/** burst_switch_code_end() - emit the end of a recording clone's burst. Changes flags. @counter:
 * the check counter that began the burst, unless the mode handles it. */
void burst_switch_code_end(struct machine_code *code, const struct runtime_code *runtime,
			   const struct burst_switch *bursts, uint32_t counter);

#endif
