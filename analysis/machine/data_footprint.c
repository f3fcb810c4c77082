// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/machine/data_footprint.h"

#include <math.h>

/* Standard deviations of a 95% interval. */
#define SIGMAS 1.96
/* Upper bound (95%) of the mean of a Poisson variable that was observed as 0. */
#define NONE_SEEN 3.0
/* If a greater part of the accesses are to units seen once, their number has no upper bound. */
#define UNSEEN_MOST 0.5
/* A processor fetches the next lines of streams with shorter strides. */
#define STREAM_BYTES 512.0

/* Upper bound of the mean of a Poisson variable. */
static double poisson_most(double count)
{
	return count + SIGMAS * sqrt(count) + NONE_SEEN;
}

/* Estimate the number of all units from those seen (Chao). @least, @most: the interval */
static void chao(double seen, double once, double twice, double *likely, double *least,
		 double *most)
{
	double unseen = once * fmax(once - 1, 0) / (2 * (twice + 1));
	double ratio = once / fmax(twice, 1);
	double variance = fmax(twice, 1) * (pow(ratio, 4) / 4 + pow(ratio, 3) + ratio * ratio / 2);

	*likely = seen + unseen;
	*least = seen;
	*most = seen + NONE_SEEN;
	if (unseen > 0) {
		double factor = exp(SIGMAS * sqrt(log1p(variance / (unseen * unseen))));

		*least += unseen / factor;
		*most += unseen * factor;
	}
}

/*
 * The units kept are a random selection of all units. So they are a population of their own, with
 * the same behaviour, and the estimates for it are scaled to all.
 */
struct data_extent data_extent_estimate(double samples, const struct data_extent_counts *counts)
{
	double scale = counts->kept > 0 ? fmax(counts->distinct / counts->kept, 1) : 0;
	double error = scale > 1 ? SIGMAS / sqrt(counts->kept) : 0;
	struct data_extent extent = {.seen = counts->distinct};

	chao(counts->kept, counts->once, counts->twice, &extent.likely, &extent.least,
	     &extent.most);
	extent.likely *= scale;
	extent.most *= scale * (1 + error);
	extent.least *= scale * (1 - error);
	if (counts->once > UNSEEN_MOST * samples)
		extent.most = INFINITY;
	extent.unseen = fmin(poisson_most(counts->once) * scale * (1 + error) / samples, 1);
	extent.even = counts->compared / poisson_most(counts->equal);
	return extent;
}

/* There are at least as many units as if all were accessed equally often. */
static double units_least(const struct data_extent *extent)
{
	return fmax(extent->least, extent->even);
}

/* A line is in one page, so there are at least as many lines. */
double data_footprint_least(const struct data_footprint *footprint,
			    const struct data_caches *caches)
{
	return fmax(units_least(&footprint->lines), units_least(&footprint->pages)) *
	       caches->line_bytes;
}

double data_footprint_bytes(const struct data_footprint *footprint,
			    const struct data_caches *caches)
{
	double likely = fmax(footprint->lines.likely, footprint->pages.likely);

	return fmax(likely * caches->line_bytes, data_footprint_least(footprint, caches));
}

double data_footprint_span(const struct data_footprint *footprint, const struct data_caches *caches)
{
	return units_least(&footprint->pages) * caches->page_bytes;
}

double data_footprint_misses(const struct data_footprint *footprint,
			     const struct data_caches *caches, double bytes)
{
	double even = fmax(footprint->lines.even, footprint->pages.even);
	double others = 1 - footprint->stack_share;
	double lines;

	if (bytes <= 0 || caches->line_bytes <= 0 || even <= 0)
		return 0;
	if (footprint->stride != 0 && fabs((double)footprint->stride) < STREAM_BYTES)
		others -= footprint->stride_share;
	lines = bytes / caches->line_bytes;
	return fmax(others - sqrt(fmin(lines / even, 1)), 0);
}
