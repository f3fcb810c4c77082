/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths by what would be gained if each took as long as it does at its fastest (Perelman,
 * Chilimbi, Calder, PACT 2005, section 5.1): its net variation, the sum over all times that
 * it was measured of what is above the least of these, the base time. Paths that were
 * measured once have none, and are not listed.
 */
#ifndef DCPI_INSTRUMENT_VARIATION_LISTING_H
#define DCPI_INSTRUMENT_VARIATION_LISTING_H

#include "instrument/paths/paths_listing.h"
#include "instrument/variation/variation_profile.h"

/* How many of the first are compared: the paper's. */
#define VARIATION_TOP 10

/**
 * struct variation_row - a path
 * @path:  its blocks; @path->sum is not for use
 * @times: what was measured
 * @procedure: its address
 * @net:   cycles above the base time
 * @rank, @by_count, @by_time: its place, from 1 on, by net variation, frequency, time
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
 * @count, @total, @net: sums over @rows, and of @once also over what was measured once
 * @once, @once_total: paths that were measured once, and their time; these are in @rows only
 *        if asked for
 * @interrupted, @interrupted_total: times that were left out (variation_layout.h)
 * @not_frequent, @not_long: of the first VARIATION_TOP, those that are not so by frequency,
 *        by time
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
 * variation_listing_make() - @all: also paths that were measured once, or always interrupted
 * @ret: out; not to be moved
 *
 * Return: 0; -ENOMEM; -EBADMSG a path that there is not.
 */
int variation_listing_make(struct variation_listing *ret, const struct paths_map *map,
			   const struct variation_profile *profile, bool all);

struct variation_recorded;

/** variation_listing_make_recorded() - the same of what a database had; it must stay. */
int variation_listing_make_recorded(struct variation_listing *ret,
				    const struct variation_recorded *recorded, bool all);

void variation_listing_deinit(struct variation_listing *listing);

/** variation_listing_share() - part of all time that was measured, 0 .. 1. */
double variation_listing_share(const struct variation_listing *listing, uint64_t cycles);

#define VARIATION_STEPS 13

/**
 * variation_listing_steps() - a path's times by how much they are above its base time
 * @samples: out: how many are below 8 cycles above, then below 16, and so on; with the
 *           precision of variation_layout.h's buckets
 */
void variation_listing_steps(const struct variation_row *row, uint64_t samples[VARIATION_STEPS]);

/** variation_listing_step() - the least difference of a step. */
static inline uint64_t variation_listing_step(size_t step)
{
	return step == 0 ? 0 : UINT64_C(4) << step;
}

/**
 * struct variation_stability - two runs of a program (the paper's figures 4 and 5)
 * @count:  paths compared: the first VARIATION_TOP, if both have as many
 * @common: of these that are among the other run's
 * @own:    of both runs: share of its time that its own first ones' net variation is
 * @other:  likewise, of those that are the other run's first ones
 * @both:   paths that were measured in both
 * @correlation: Spearman's, of their net variations; NAN: too few
 */
struct variation_stability {
	size_t count;
	size_t common;
	double own[2];
	double other[2];
	size_t both;
	double correlation;
};

/** variation_stability_find() - compare; of the same image. Return: 0 or -ENOMEM. */
int variation_stability_find(struct variation_stability *ret, const struct variation_listing *first,
			     const struct variation_listing *second);

#endif
