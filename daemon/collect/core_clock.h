/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measures a core's clock without a counter: a dependent addition takes one cycle on every
 * processor.
 *
 * If only clocks can be sampled, a sample represents time, and this clock converts it to cycles.
 * Cores change their clock: the lowest and the highest measured values show the uncertainty.
 */
#ifndef DCPI_CORE_CLOCK_H
#define DCPI_CORE_CLOCK_H

#include <stdint.h>

/** struct core_clock - measured clocks, in kHz; zero-initialised: none. */
struct core_clock {
	uint64_t min_khz;
	uint64_t max_khz;
};

/**
 * core_clock_measure() - measure the clock of the current core
 *
 * Takes less than a tenth of a millisecond. The fastest of several runs counts, since interrupts
 * and other guests only make them slower.
 *
 * Return: kHz; 0: unsupported on this architecture.
 */
uint64_t core_clock_measure(void);

/** core_clock_note() - add a measured value; 0 is ignored. */
void core_clock_note(struct core_clock *clock, uint64_t khz);

#endif
