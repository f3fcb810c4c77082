/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists the edges of a tally as the rows of a report. */
#ifndef DCPI_EDGE_LISTING_H
#define DCPI_EDGE_LISTING_H

#include "db/profile.h"
#include "tools/report/report.h"
#include "tools/tally/edge_tally.h"

/** struct edge_listing - fields are private; @tally is owned by the caller */
struct edge_listing {
	const struct edge_tally *tally;
	struct report_total totals[PROFILE_EDGE_KINDS];
};

/**
 * edge_listing_order() - parse the argument of --sort
 * @sort: "count", "procedure", "image" or "address"; NULL: count
 *
 * Return: 0; -EINVAL: no such column.
 */
int edge_listing_order(enum edge_order *ret, const char *sort, struct error *err);

/** edge_listing_report() - make a report without its header; it points to @listing */
struct report edge_listing_report(struct edge_listing *listing, const struct edge_tally *tally);

#endif
