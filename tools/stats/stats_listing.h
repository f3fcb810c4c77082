/* SPDX-License-Identifier: GPL-2.0-only */
/* Report of the variation between sets of samples (DCPI figure 3), or of the difference of two. */
#ifndef DCPI_STATS_LISTING_H
#define DCPI_STATS_LISTING_H

#include "tools/report/report.h"
#include "tools/stats/set_table.h"

struct stats_listing;

/** enum stats_listing_form - selects the columns */
enum stats_listing_form {
	STATS_LISTING_FIGURE, /* text: columns of the paper's figure; else all but those of DIFF */
	STATS_LISTING_TEST,   /* text: columns of the test; else all but those of DIFF */
	STATS_LISTING_DIFF,   /* two sets, before and after */
};

/**
 * struct stats_listing_config - configuration of a listing
 * @norm:  see analysis/statistics/significance.h
 * @null:  see analysis/statistics/significance.h
 * @level: of significance
 * @least: minimum share of all samples; rows with less are not listed
 * @by:    kind of the table's rows
 * @sort:  heading or key of a column; NULL: range%, with rows of few samples last; for
 *         STATS_LISTING_DIFF, the absolute difference
 * @limit: number of rows; 0: all
 */
struct stats_listing_config {
	enum significance_norm norm;
	enum significance_null null;
	double level;
	double least;
	enum stats_listing_form form;
	enum tally_by by;
	const char *sort;
	size_t limit;
};

/** stats_listing_norm_name() - return "none", "time", "total" or "rest"; NULL: no such value */
const char *stats_listing_norm_name(enum significance_norm norm);

/**
 * stats_listing_create() - compute, sort, limit, and make columns
 * @ret: out; freed by stats_listing_destroy()
 *
 * @sets and @table must outlive the listing.
 *
 * Return: 0; -EINVAL: only one set, no column @sort, or not two sets for STATS_LISTING_DIFF;
 * -ENOMEM.
 */
int stats_listing_create(struct stats_listing **ret, const struct stats_listing_config *config,
			 const struct sample_sets *sets, const struct set_table *table,
			 struct error *err);

void stats_listing_destroy(struct stats_listing *listing);

/** stats_listing_report() - make a report without its header; it points into the listing */
struct report stats_listing_report(const struct stats_listing *listing);

#endif
