/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loop clocks: how many iterations a loop makes between two of its samples, by the registers that
 * came with the samples.
 *
 * An induction variable of a loop (analysis/graph/induction.h) changes by its step in each
 * iteration. So its change between two samples of one activation of the loop, divided by its step,
 * is the number of iterations between them. Each sample of the loop but the last one has a next
 * sample; so the mean number of iterations from one to the next, times the loop's samples, is the
 * loop's number of iterations. The sampling period, the processor's clock, and how long
 * instructions take do not occur in this calculation.
 *
 * A pair of samples is of use if all induction variables that were recorded of it agree. Pairs of
 * different activations of the loop do not count its iterations: their rates are far from the
 * median. Without a clear majority of pairs near the median, the loop has no clock.
 */
#ifndef DCPI_LOOP_CLOCK_H
#define DCPI_LOOP_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfg;
struct loop_nest;
struct procedure_profile;

/**
 * struct loop_clock - of a loop
 * @pairs:      pairs of samples that were used
 * @iterations: between the samples of all of these
 * @variance:   relative variance of @iterations / @pairs
 * @disagreed, @outliers: pairs that were not used: induction variables contradict each other, or
 *              the rate is far from the median
 */
struct loop_clock {
	uint32_t pairs;
	double iterations;
	double variance;
	uint32_t disagreed;
	uint32_t outliers;
};

/**
 * loop_clock_read() - read a loop's clock
 * @ret:     out
 * @profile: with the procedure's pairs
 *
 * O(pairs log pairs + loop's instructions).
 *
 * Return: 1; 0: the loop has no clock (@ret has the numbers of pairs); -ENOMEM.
 */
int loop_clock_read(struct loop_clock *ret, const struct cfg *cfg, const struct loop_nest *nest,
		    uint32_t loop, const struct procedure_profile *profile);

#endif
