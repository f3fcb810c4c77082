/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Number of executions in the profiled period per counted execution.
 *
 * Samples and counts come from different runs of a program: it may have been counted for a minute
 * and sampled for a week. If the program did the same kind of work both times, counts are exact
 * only for the executions of instructions relative to each other. So one scale per image is
 * unknown. It follows from three facts:
 *
 * - No code takes less time than its best case. Samples and count of each block determine the scale
 *   at which it would take exactly its best case. The quarter of the blocks with the lowest scales
 *   is the fast code. The scale is at most twice that of the fast code, because best cases are
 *   inaccurate, too.
 * - Scaled counts should agree with the estimates from samples. The scale is the median of each
 *   block's estimate divided by its count, weighted by samples, over blocks that have both. Wrong
 *   estimates in some procedures hardly affect the median. But estimates are wrong where the
 *   program waits for memory, and most samples may be there. So blocks that take eight times as
 *   long as fast ones, relative to their best cases, are ignored. The interval is the median of the
 *   estimates' intervals.
 * - Often the scale is a value that the caller considers likely: the number of sampled runs per
 *   counted run. That value is used if the interval contains it.
 *
 * This uncertainty is common to all frequencies and CPIs of the image; their ratios are not
 * affected. If the same work was sampled and counted, as in runs of a deterministic program, the
 * scale is known and need not be estimated.
 */
#ifndef DCPI_EXACT_SCALE_H
#define DCPI_EXACT_SCALE_H

#include <stdbool.h>

#include "analysis/image_analysis.h"

/**
 * struct exact_scale - the scale
 * @value:      executions per counted execution
 * @low, @high: an interval as in struct frequency_estimate
 * @agree:      share of @samples in blocks whose estimates are within a factor of 2 of their scaled
 *              counts. If it is small, the counted work differs from the sampled work (or the
 *              estimates are bad)
 * @samples:    considered samples: samples of time in counted blocks
 * @expected:   the scale that the caller considered likely; 0: none
 * @likely:     @value is @expected
 */
struct exact_scale {
	double value;
	double low;
	double high;
	double agree;
	double samples;
	double expected;
	bool likely;
};

/**
 * exact_scale_find() - find the scale
 * @samples: with exact counts; their scale is ignored
 * @options: of the estimates; @scope and related members are ignored
 * @likely:  a scale that is likely regardless of the samples; 0: none
 *
 * Analyses the 256 counted procedures with the most samples.
 *
 * Return: 0; -ENODATA if no block has both samples and counts; or an error of image_analysis_run().
 */
int exact_scale_find(struct exact_scale *ret, struct image_code *code,
		     const struct image_samples *samples,
		     const struct image_analysis_options *options, double likely,
		     struct error *err);

#endif
