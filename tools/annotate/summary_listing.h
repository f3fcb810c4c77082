/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Summarises the cycles of many procedures by cause, in total and for each image or procedure (DCPI
 * Figure 4).
 */
#ifndef DCPI_SUMMARY_LISTING_H
#define DCPI_SUMMARY_LISTING_H

#include "analysis/culprit/stall_summary.h"
#include "tools/annotate/calc_driver.h"
#include "tools/report/report.h"
#include "tools/annotate/counted_images.h"

struct summary_row;

/**
 * struct summary_listing - zero-initialised except for the configuration
 * @by_procedure: rows are procedures, else images
 * @demangle:     names as in the source, not as linkers use
 * @events:       the event of time; @all_samples: of it, in all images
 * @sum:          of all procedures
 * @images:       number of images with samples of time; @analysed: number of these that were
 *                analysed
 * @procedures:   number of procedures that were analysed
 * @counted:      images with exact counts
 * @rest:         samples that were left out
 */
struct summary_listing {
	bool by_procedure;
	bool demangle;
	const struct calc_events *events;
	double all_samples;
	struct stall_summary sum;
	size_t images;
	size_t analysed;
	size_t procedures;
	struct counted_images counted;
	struct calc_rest rest;

	/* private */
	const struct calc_choice *choice;
	const struct machine_model *model;
	struct summary_row *rows;
	size_t row_count;
	size_t capacity;
	size_t shown;
	struct column *columns;
	size_t column_count;
	char (*keys)[40];
};

/** summary_listing_image(), summary_listing_procedure() - callbacks for struct calc_driver */
int summary_listing_image(void *context, const struct calc_choice *choice,
			  const struct machine_model *model);
int summary_listing_procedure(void *context, const struct procedure_analysis *analysis);

/**
 * summary_listing_finish() - sort, limit, and make columns, after all procedures were added
 * @sort:  heading or key of a column; NULL: samples
 * @limit: number of rows; 0: all
 *
 * Return: 0; -EINVAL: there is no column @sort; -ENOMEM.
 */
int summary_listing_finish(struct summary_listing *listing, const char *sort, size_t limit,
			   struct error *err);

/** summary_listing_report() - make a report without its header */
struct report summary_listing_report(const struct summary_listing *listing);

void summary_listing_deinit(struct summary_listing *listing);

#endif
