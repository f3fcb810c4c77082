/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists units, containers, processes, hosts or epochs as the rows of a report. */
#ifndef DCPI_OWNER_LISTING_H
#define DCPI_OWNER_LISTING_H

#include "tools/report/report.h"
#include "tools/tally/owner_tally.h"

struct owner_listing;

/**
 * owner_listing_create() - make the rows of a report from a tally
 * @config: configuration of the tally
 * @sort:   heading or key of a column; NULL: order of the tally
 * @limit:  maximum number of rows; 0: all
 *
 * The tally is owned by the caller. Return: 0; -EINVAL: there is no column @sort; -ENOMEM.
 */
int owner_listing_create(struct owner_listing **ret, const struct owner_tally *tally,
			 const struct owner_tally_config *config, const char *sort, size_t limit,
			 struct error *err);

/** owner_listing_destroy() - free; @listing may be NULL */
void owner_listing_destroy(struct owner_listing *listing);

/** owner_listing_report() - make a report without its header */
struct report owner_listing_report(const struct owner_listing *listing);

#endif
