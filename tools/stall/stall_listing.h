/* SPDX-License-Identifier: GPL-2.0-only */
/* The instructions that stalled for most of the time, of many procedures. */
#ifndef DCPI_STALL_LISTING_H
#define DCPI_STALL_LISTING_H

#include "tools/calc/calc_walk.h"
#include "tools/report/report.h"
#include "tools/stall/counted_images.h"

struct stall_row;

/**
 * struct stall_listing - zero-initialised but for the configuration
 * @limit:       rows, > 0; only so many are kept while procedures come
 * @demangle:    names as the source has them, not as linkers do
 * @events:      the event of time; @all_samples: of it, in all images
 * @stalled:     samples of all stalls there are, listed or not
 * @analysed:    samples of procedures that were analysed
 * @counted:     images with exact counts
 * @rest:        samples that were left out
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
	struct stall_row *rows; /* a heap, the least first; then by decreasing cost */
	size_t row_count;
	size_t capacity;
};

/** stall_listing_image(), stall_listing_procedure() - for struct calc_walk. */
int stall_listing_image(void *context, const struct calc_choice *choice,
			const struct machine_model *model);
int stall_listing_procedure(void *context, const struct procedure_analysis *analysis);

/** stall_listing_finish() - sort, when all are in. */
void stall_listing_finish(struct stall_listing *listing);

/** stall_listing_report() - all of a report but its header. */
struct report stall_listing_report(const struct stall_listing *listing);

void stall_listing_deinit(struct stall_listing *listing);

#endif
