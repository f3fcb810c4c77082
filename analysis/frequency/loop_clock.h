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
 * The calculation has no error where each sample of the loop has its pair. Samples without one
 * (the last sample before the loop is left, pairs that were not selected or not recorded) are taken
 * to be like the others.
 *
 * A pair of samples is of use if all induction variables that were recorded of it agree. Pairs of
 * different activations of the loop do not count its iterations: their rates are far from the
 * median, half of them with the other sign. Without a clear majority of pairs near the median, the
 * loop has no clock. There is an exception: if nearly all pairs have the same sign, the loop waits,
 * perhaps for another thread. Then pairs without any iteration count as well.
 *
 * A loop has no clock if most of its pairs contain no induction variable: the recording drops
 * changes that are unlike the others, so that the remaining ones are alike by selection.
 */
#ifndef DCPI_LOOP_CLOCK_H
#define DCPI_LOOP_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A clock needs this number of pairs. */
#define LOOP_CLOCK_PAIRS_MIN 4

struct cfg;
struct loop_nest;
struct procedure_profile;

/**
 * struct loop_clock - of a loop
 * @block:      its executions are the iterations; LOOP_NEST_NONE: there are no pairs, or no
 *              induction variables
 * @all:        samples of the loop
 * @pairs:      pairs of samples that were used
 * @iterations: between the samples of all of these
 * @samples:    samples of the loop that stand for the time of these iterations
 * @variance:   relative variance of @iterations / @samples, as the mean over the loop's time
 * @disagreed, @outliers: pairs that were not used: induction variables contradict each other, or
 *              the rate is far from the median
 * @silent:     pairs in the loop in which no induction variable was recorded
 * @words:      the pairs are those of words of memory (struct profile_pair)
 */
struct loop_clock {
	uint32_t block;
	double all;
	uint32_t pairs;
	double iterations;
	double samples;
	double variance;
	uint32_t disagreed;
	uint32_t outliers;
	uint32_t silent;
	bool words;
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

/**
 * loop_counter_read() - read the clock of a register that a single instruction of a loop changes
 * @ret: out: the clock of that instruction's block, see induction_map_create_counter()
 *
 * Return: as loop_clock_read().
 */
int loop_counter_read(struct loop_clock *ret, const struct cfg *cfg, const struct loop_nest *nest,
		      uint32_t loop, uint8_t reg, const struct procedure_profile *profile);

/** loop_clock_samples() - return the samples in a loop, O(instructions of the procedure). */
double loop_clock_samples(const struct cfg *cfg, const struct loop_nest *nest, uint32_t loop,
			  const struct procedure_profile *profile);

#endif
