/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists the instructions with the most stall time, among many procedures. */
#ifndef DCPI_STALL_LISTING_H
#define DCPI_STALL_LISTING_H

#include "tools/annotate/calc_driver.h"
#include "tools/report/report.h"
#include "tools/annotate/counted_images.h"

struct stall_row;

/**
 * struct stall_listing - zero-initialised except for the configuration
 * @limit:    number of rows, > 0; only this many are stored while procedures are added
 * @demangle: names as in the source, not as linkers use
 * @events:   the event of time; @all_samples: of it, in all images
 * @stalled:  samples of all stalls, listed or not
 * @analysed: samples of procedures that were analysed
 * @counted:  images with exact counts
 * @rest:     samples that were left out
 */
struct stall_listing {
	size_t limit;
	bool demangle;
	const struct calc_events *events;
	double all_samples;
	double stalled;
	double analysed;
	struct counted_images counted;
	struct calc_rest rest;

	/* private */
	const struct calc_choice *choice;
	struct stall_row *rows; /* a heap, the least at the top; then in descending order of cost */
	size_t row_count;
	size_t capacity;
};

/** stall_listing_image(), stall_listing_procedure() - callbacks for struct calc_driver */
int stall_listing_image(void *context, const struct calc_choice *choice,
			const struct machine_model *model);
int stall_listing_procedure(void *context, const struct procedure_analysis *analysis);

/** stall_listing_finish() - sort, after all procedures were added */
void stall_listing_finish(struct stall_listing *listing);

/** stall_listing_report() - make a report without its header */
struct report stall_listing_report(const struct stall_listing *listing);

void stall_listing_deinit(struct stall_listing *listing);

#endif
