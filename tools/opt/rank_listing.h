/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists images by the time that another layout of their code can save (layout_bound.h). */
#ifndef DCPI_RANK_LISTING_H
#define DCPI_RANK_LISTING_H

#include "tools/annotate/calc_driver.h"
#include "tools/report/report.h"

struct rank_row;

/* Advice for an image that BOLT can rewrite; any other advice is a reason not to. */
#define RANK_ADVICE_PREPARE "prepare"

/**
 * struct rank_listing - zero-initialised except for the configuration
 * @least:       gain in percent below which an image is not worth it
 * @all_samples: of time, in all images
 * @period:      cycles that a sample of time stands for
 * @event:       of time
 */
struct rank_listing {
	double least;
	double all_samples;
	double period;
	const char *event;

	/* private */
	struct report_total total;
	struct image_code *code; /* of the current image */
	struct rank_row *rows;
	size_t row_count;
	size_t capacity;
	size_t shown;
};

/** rank_listing_image(), rank_listing_procedure() - callbacks for struct calc_driver */
int rank_listing_image(void *context, const struct calc_choice *choice,
		       const struct machine_model *model);
int rank_listing_procedure(void *context, const struct procedure_analysis *analysis);

/**
 * rank_listing_finish() - compute, sort and limit, after all procedures were added
 * @sort:  heading or key of a column; NULL: the upper bound of the gain
 * @limit: number of rows; 0: all
 *
 * Return: 0; -EINVAL: there is no column @sort.
 */
int rank_listing_finish(struct rank_listing *listing, const char *sort, size_t limit,
			struct error *err);

/** rank_listing_report() - make a report without its header */
struct report rank_listing_report(const struct rank_listing *listing);

void rank_listing_deinit(struct rank_listing *listing);

#endif
