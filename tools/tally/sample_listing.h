/* SPDX-License-Identifier: GPL-2.0-only */
/* The samples of a tally as the rows of a report. */
#ifndef DCPI_SAMPLE_LISTING_H
#define DCPI_SAMPLE_LISTING_H

#include "tools/report/report.h"
#include "tools/tally/tally.h"

struct sample_listing;

/**
 * struct sample_listing_config - what to list
 * @tally:  made by @by, of these events; its rows are sorted here
 * @sort:   an event, "image"; of procedures and instructions "procedure", "address"; of
 *          lines and files "source"; NULL: the first event
 * @limit:  rows; 0: all
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
 * sample_listing_create() - sort, cut, and make columns
 * @ret: out; freed by sample_listing_destroy()
 *
 * What @config points to must outlive it.
 *
 * Return: 0; -EINVAL there is no column @sort; -ENOMEM.
 */
int sample_listing_create(struct sample_listing **ret, const struct sample_listing_config *config,
			  struct error *err);

void sample_listing_destroy(struct sample_listing *listing);

/** sample_listing_report() - all of a report but its header; the listing keeps what it points to.
 */
struct report sample_listing_report(const struct sample_listing *listing);

#endif
