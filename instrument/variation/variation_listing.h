/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths by the time that would be saved if each execution were as fast as the fastest one
 * (Perelman, Chilimbi, Calder, PACT 2005, section 5.1). This net variation is the sum over all
 * measured executions of the time in excess of the minimum, the base time. Paths that were measured
 * once have no variation, and are not listed.
 */
#ifndef DCPI_INSTRUMENT_VARIATION_LISTING_H
#define DCPI_INSTRUMENT_VARIATION_LISTING_H

#include "instrument/paths/paths_listing.h"
#include "instrument/variation/variation_profile.h"

/* Number of top paths that are compared, as in the paper. */
#define VARIATION_TOP 10

/**
 * struct variation_row - a path
 * @path:  its blocks; @path->sum must not be used
 * @times: its measurements
 * @procedure: address of its procedure
 * @net:   cycles above the base time
 * @rank, @by_count, @by_time: its rank, from 1 on, by net variation, frequency, time
 */
struct variation_row {
	const struct paths_row *path;
	const struct variation_path *times;
	uint64_t procedure;
	uint64_t net;
	size_t rank;
	size_t by_count;
	size_t by_time;
};

/**
 * struct variation_listing - freed by variation_listing_deinit()
 * @order: all paths of @profile, by procedure and number
 * @rows:  most net variation first
 * @count, @total, @net: sums over @rows, including paths that were measured once.
 * @once, @once_total: number of paths that were measured once, and their time. These paths are in
 *                     @rows only if requested.
 * @interrupted, @interrupted_total: excluded measurements (variation_layout.h)
 * @not_frequent, @not_long: number of the first VARIATION_TOP that are not among the first by
 *                           frequency, by time
 */
struct variation_listing {
	const struct paths_map *map;
	const struct variation_profile *profile;
	struct paths_profile sums;
	struct paths_listing paths;
	const struct variation_path **order;
	struct variation_row *rows;
	size_t row_count;
	uint64_t count;
	uint64_t total;
	uint64_t net;
	uint64_t once;
	uint64_t once_total;
	uint64_t interrupted;
	uint64_t interrupted_total;
	size_t not_frequent;
	size_t not_long;
};

/**
 * variation_listing_make() - list the paths of a profile
 * @ret: out; must not be moved
 * @all: include paths that were measured once, or always interrupted
 *
 * Return: 0; -ENOMEM; -EBADMSG a path does not exist.
 */
int variation_listing_make(struct variation_listing *ret, const struct paths_map *map,
			   const struct variation_profile *profile, bool all);

struct variation_recorded;

/**
 * variation_listing_make_recorded() - list paths of a database; @recorded must outlive the listing
 */
int variation_listing_make_recorded(struct variation_listing *ret,
				    const struct variation_recorded *recorded, bool all);

void variation_listing_deinit(struct variation_listing *listing);

/** variation_listing_share() - return the share of all measured time, 0 .. 1. */
double variation_listing_share(const struct variation_listing *listing, uint64_t cycles);

#define VARIATION_STEPS 13

/**
 * variation_listing_steps() - make a histogram of a path's times above its base time
 * @samples: out: number of times less than 8 cycles above it, then less than 16, and so on; with
 *           the precision of the buckets in variation_layout.h
 */
void variation_listing_steps(const struct variation_row *row, uint64_t samples[VARIATION_STEPS]);

/** variation_listing_step() - return the least difference of a step. */
static inline uint64_t variation_listing_step(size_t step)
{
	return step == 0 ? 0 : UINT64_C(4) << step;
}

/**
 * struct variation_stability - comparison of two runs of a program (the paper's figures 4 and 5)
 * @count:  paths compared: VARIATION_TOP, if both runs have as many
 * @common: number of these paths that are among the top paths of the other run
 * @own:    for both runs: net variation of the run's top paths as a share of its time
 * @other:  for both runs: net variation of the other run's top paths as a share of its time
 * @both:   number of paths measured in both
 * @correlation: Spearman's rank correlation of their net variations; NAN: too few
 */
struct variation_stability {
	size_t count;
	size_t common;
	double own[2];
	double other[2];
	size_t both;
	double correlation;
};

/** variation_stability_find() - compare runs of one image. Return: 0 or -ENOMEM. */
int variation_stability_find(struct variation_stability *ret, const struct variation_listing *first,
			     const struct variation_listing *second);

#endif
