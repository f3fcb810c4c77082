/* SPDX-License-Identifier: GPL-2.0-only */
/* Units, containers, processes, hosts or epochs as the rows of a report. */
#ifndef DCPI_OWNER_LISTING_H
#define DCPI_OWNER_LISTING_H

#include "tools/report/report.h"
#include "tools/tally/owner_tally.h"

struct owner_listing;

/**
 * owner_listing_create() - lay a tally out
 * @config: what the tally was made with
 * @sort:   heading or key of a column; NULL: as the tally has them
 * @limit:  rows at most; 0: all
 *
 * The tally stays the caller's. Return: 0; -EINVAL there is no column @sort; -ENOMEM.
 */
int owner_listing_create(struct owner_listing **ret, const struct owner_tally *tally,
			 const struct owner_tally_config *config, const char *sort, size_t limit,
			 struct error *err);

/** owner_listing_destroy() - NULL is fine. */
void owner_listing_destroy(struct owner_listing *listing);

/** owner_listing_report() - all of a report but its header. */
struct report owner_listing_report(const struct owner_listing *listing);

#endif
