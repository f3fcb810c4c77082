/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How fast a core runs, measured without a counter: the length of a cycle is what
 * an addition that waits for the one before takes, on every processor there is.
 *
 * Where only clocks can be sampled, a sample stands for time, and this is what
 * makes cycles of it. Cores change their clock: the lowest and the highest that
 * were seen say how far the number is to be trusted.
 */
#ifndef DCPI_CORE_CLOCK_H
#define DCPI_CORE_CLOCK_H

#include <stdint.h>

/** struct core_clock - clocks seen, in kHz; zero-initialised: none. */
struct core_clock {
	uint64_t min_khz;
	uint64_t max_khz;
};

/**
 * core_clock_measure() - the clock of the core that this runs on, now
 *
 * Takes less than a tenth of a millisecond; the fastest of several pieces counts, since
 * interrupts and other guests only ever make them slower.
 *
 * Return: kHz; 0: not known on this architecture.
 */
uint64_t core_clock_measure(void);

/** core_clock_note() - add what was seen; 0 is nothing. */
void core_clock_note(struct core_clock *clock, uint64_t khz);

#endif
