/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many executions in the profiled period there are for each one that was counted.
 *
 * Samples and counts come from different runs of a program: it may have been counted for a
 * minute and sampled for a week. What counts say for sure is how often instructions ran in
 * proportion to each other, if the program did the same kind of work both times. So one
 * number for each image is left to be found. Three things are known of it:
 *
 *  - No code takes less than it does at best. With what scale each block would take just
 *    that, its samples and its count say; the quarter of the blocks with the least is the
 *    fast code. The scale is at most twice what makes it as fast as that, for best cases are
 *    wrong, too.
 *  - It makes counts agree with what is estimated of the samples: the median, weighted by
 *    samples, over blocks that have both, of the block's estimate divided by its count.
 *    Estimates that are wrong in some procedures do not move it much. But they are wrong
 *    where the program waits for memory, which is where most of the samples may be: blocks
 *    that take eight times as long as fast ones, next to their best cases, are not asked.
 *    The interval is that of the estimates' own ones, taken likewise.
 *  - It is often what the caller thinks likely: so many runs were sampled for each that was
 *    counted. That is taken where the interval has it.
 *
 * All frequencies, and all CPIs, of the image have this uncertainty in common; how they
 * compare has none of it. Where what was sampled and what was counted are the same work, as
 * with runs of a program that does the same each time, the scale is known, and need not be
 * found.
 */
#ifndef DCPI_EXACT_SCALE_H
#define DCPI_EXACT_SCALE_H

#include <stdbool.h>

#include "analysis/image_analysis.h"

/**
 * struct exact_scale - the scale
 * @value:  executions for each one counted
 * @low, @high: an interval as in struct frequency_estimate
 * @agree:  of the samples that were looked at, the share in blocks whose estimates, scaled
 *          so, are within a factor of 2 of their counts. Where it is small, other work was
 *          counted than was sampled (or estimates are bad)
 * @samples: that were looked at: of time, in blocks that were counted
 * @likely: it is the one that was thought likely
 */
struct exact_scale {
	double value;
	double low;
	double high;
	double agree;
	double samples;
	bool likely;
};

/**
 * exact_scale_find() - find the scale
 * @samples: with exact counts; their scale is not looked at
 * @options: how to estimate; @scope and what belongs to it is not looked at
 * @likely:  a scale that is likely, whatever the samples are; 0: none
 *
 * Looks at the 256 procedures with most samples among those that were counted: it takes
 * as long as analysing them.
 *
 * Return: 0; -ENODATA no block has both samples and counts; or as image_analysis_run().
 */
int exact_scale_find(struct exact_scale *ret, struct image_code *code,
		     const struct image_samples *samples,
		     const struct image_analysis_options *options, double likely,
		     struct error *err);

#endif
