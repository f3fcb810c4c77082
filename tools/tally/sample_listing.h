/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists the samples of a tally as the rows of a report. */
#ifndef DCPI_SAMPLE_LISTING_H
#define DCPI_SAMPLE_LISTING_H

#include "tools/report/report.h"
#include "tools/tally/tally.h"

struct sample_listing;

/**
 * struct sample_listing_config - configuration of a listing
 * @tally: made with @by and these events; its rows are sorted by the listing
 * @sort:  an event or "image"; for procedures and instructions "procedure", "address"; for lines
 *         and files "source"; NULL: the first event
 * @limit: number of rows; 0: all
 */
struct sample_listing_config {
	struct tally *tally;
	enum tally_by by;
	const char *const *events;
	size_t event_count;
	const char *sort;
	size_t limit;
};

/**
 * sample_listing_create() - sort and limit the rows, and make columns
 * @ret: out; freed by sample_listing_destroy()
 *
 * Objects to which @config points must outlive the listing.
 *
 * Return: 0; -EINVAL: there is no column @sort; -ENOMEM.
 */
int sample_listing_create(struct sample_listing **ret, const struct sample_listing_config *config,
			  struct error *err);

void sample_listing_destroy(struct sample_listing *listing);

/** sample_listing_report() - make a report without its header; it points into the listing */
struct report sample_listing_report(const struct sample_listing *listing);

#endif
