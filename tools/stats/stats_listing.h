/* SPDX-License-Identifier: GPL-2.0-only */
/* What varies between sets of samples, as a report (DCPI figure 3); or what differs, of two. */
#ifndef DCPI_STATS_LISTING_H
#define DCPI_STATS_LISTING_H

#include "tools/report/report.h"
#include "tools/stats/set_table.h"

struct stats_listing;

/** enum stats_listing_form - which columns there are. */
enum stats_listing_form {
	STATS_LISTING_FIGURE, /* in text those of the paper's figure; else all but those of DIFF */
	STATS_LISTING_TEST,   /* in text those of the test; else likewise */
	STATS_LISTING_DIFF,   /* of two sets, before and after */
};

/**
 * struct stats_listing_config - what to list
 * @norm:   see analysis/statistics/variation.h
 * @null:   likewise
 * @level:  of significance
 * @least:  rows with less than this part of all samples are not listed
 * @by:     what rows of the table are
 * @sort:   heading or key of a column; NULL: range%, rows with few samples last; of
 *          STATS_LISTING_DIFF, the size of the difference
 * @limit:  rows; 0: all
 */
struct stats_listing_config {
	enum variation_norm norm;
	enum variation_null null;
	double level;
	double least;
	enum stats_listing_form form;
	enum tally_by by;
	const char *sort;
	size_t limit;
};

/** stats_listing_norm_name() - "none", "time", "total", "rest"; NULL: there is none. */
const char *stats_listing_norm_name(enum variation_norm norm);

/**
 * stats_listing_create() - compute, sort, cut, and make columns
 * @ret: out; freed by stats_listing_destroy()
 *
 * @sets and @table must outlive it.
 *
 * Return: 0; -EINVAL there is one set only, no column @sort, or not two for
 * STATS_LISTING_DIFF; -ENOMEM.
 */
int stats_listing_create(struct stats_listing **ret, const struct stats_listing_config *config,
			 const struct sample_sets *sets, const struct set_table *table,
			 struct error *err);

void stats_listing_destroy(struct stats_listing *listing);

/** stats_listing_report() - all of a report but its header; the listing keeps what it points to. */
struct report stats_listing_report(const struct stats_listing *listing);

#endif
