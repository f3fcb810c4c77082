// SPDX-License-Identifier: GPL-2.0-only
#include "tools/opt/rank_listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "tools/opt/bolt_candidate.h"
#include "tools/opt/layout_bound.h"

/*
 * struct rank_row - an image
 * @reason: why BOLT cannot rewrite it, or why that is not worth it; static; NULL: neither
 * @high:   upper bound of the gain, in percent of all samples
 */
struct rank_row {
	char *image;
	char *build_id;
	double samples;
	struct layout_bound bound;
	const char *reason;
	double percent;
	double high;
	size_t index;
};

int rank_listing_image(void *context, const struct calc_choice *choice,
		       const struct machine_model *model)
{
	struct rank_listing *listing = context;
	struct rank_row *row;

	(void)model;
	if (array_reserve(&listing->rows, &listing->capacity, listing->row_count + 1,
			  sizeof(*listing->rows)) < 0)
		return -ENOMEM;
	listing->code = choice->code;
	row = &listing->rows[listing->row_count];
	*row = (struct rank_row){
		.image = strdup(choice->image->image.path),
		.build_id = strdup(image_code_build_id(choice->code)),
		.samples = choice->image->samples,
		.reason = bolt_candidate_reason(image_code_file(choice->code)),
		.index = listing->row_count,
	};
	listing->row_count++;
	return row->image != NULL && row->build_id != NULL ? 0 : -ENOMEM;
}

int rank_listing_procedure(void *context, const struct procedure_analysis *analysis)
{
	struct rank_listing *listing = context;

	return layout_bound_add(&listing->rows[listing->row_count - 1].bound, listing->code,
				analysis);
}

static void get_high(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->percent = ((const struct rank_row *)row)->high;
}

/* Layout may save nothing: no part of the bound is certain. */
static void get_low(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	(void)row;
	value->percent = 0;
}

static void rank_get_percent(const struct column *column, const void *row,
			     struct column_value *value)
{
	(void)column;
	value->percent = ((const struct rank_row *)row)->percent;
}

/* The shares are of the jumps and taken branches of the analysed procedures. */
static void get_removable(const struct column *column, const void *row, struct column_value *value)
{
	const struct layout_bound *bound = &((const struct rank_row *)row)->bound;

	(void)column;
	value->missing = !(bound->taken > 0);
	if (!value->missing)
		value->percent = 100 * bound->removable / bound->taken;
}

static void rank_get_image(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct rank_row *)row)->image;
}

static void rank_get_build_id(const struct column *column, const void *row,
			      struct column_value *value)
{
	(void)column;
	value->text = ((const struct rank_row *)row)->build_id;
	value->missing = value->text[0] == '\0';
}

static void get_advice(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct rank_row *)row)->reason;
	if (value->text == NULL)
		value->text = RANK_ADVICE_PREPARE;
}

static const struct column columns[] = {
	{"%", "percent", COLUMN_PERCENT, 0, 0, rank_get_percent},
	{"gain from", "gain_low_percent", COLUMN_PERCENT, 0, 0, get_low},
	{"to", "gain_high_percent", COLUMN_PERCENT, 0, 0, get_high},
	{"removable", "removable_taken_percent", COLUMN_PERCENT, COLUMN_DETAIL, 0, get_removable},
	{"image", "image", COLUMN_TEXT, COLUMN_CUT_START, 0, rank_get_image},
	{"advice", "advice", COLUMN_TEXT, COLUMN_CUT_END, 0, get_advice},
	{"build-id", "build_id", COLUMN_TEXT, COLUMN_DETAIL, 0, rank_get_build_id},
};

#define COLUMNS (sizeof(columns) / sizeof(*columns))
#define SORT_DEFAULT "gain_high_percent"

static int rank_compare(const void *a, const void *b, void *column)
{
	const struct rank_row *x = a, *y = b;
	int r = columns_compare(column, a, b);

	return r != 0 ? r : (x->index > y->index) - (x->index < y->index);
}

static void finish_row(const struct rank_listing *listing, struct rank_row *row)
{
	stall_summary_settle(&row->bound.sum);
	if (!(listing->all_samples > 0))
		return;
	row->percent = 100 * row->samples / listing->all_samples;
	row->high = 100 * layout_bound_samples(&row->bound, row->samples, listing->period) /
		    listing->all_samples;
	if (row->reason == NULL && row->high < listing->least)
		row->reason = "not worth it: the gain is too small";
}

int rank_listing_finish(struct rank_listing *listing, const char *sort, size_t limit,
			struct error *err)
{
	const struct column *column =
		columns_find(columns, COLUMNS, sort != NULL ? sort : SORT_DEFAULT);

	if (column == NULL)
		return columns_unknown(columns, COLUMNS, sort, err);
	for (size_t i = 0; i < listing->row_count; i++)
		finish_row(listing, &listing->rows[i]);
	if (listing->row_count > 0)
		qsort_r(listing->rows, listing->row_count, sizeof(*listing->rows), rank_compare,
			(void *)(uintptr_t)column);
	listing->total = (struct report_total){.name = listing->event,
					       .count = (uint64_t)(listing->all_samples + 0.5)};
	listing->shown = limit > 0 && limit < listing->row_count ? limit : listing->row_count;
	return 0;
}

static const void *rank_get_row(const void *context, size_t index)
{
	return &((const struct rank_listing *)context)->rows[index];
}

static void rank_caption(FILE *stream, const void *context)
{
	(void)context;
	fputs("Share of all samples, and the share that another layout of the code can save:\n\n",
	      stream);
}

struct report rank_listing_report(const struct rank_listing *listing)
{
	return (struct report){
		.totals_of = "samples for event type",
		.totals = &listing->total,
		.total_count = 1,
		.caption = rank_caption,
		.table =
			{
				.columns = columns,
				.column_count = COLUMNS,
				.row = rank_get_row,
				.context = listing,
				.row_count = listing->shown,
			},
	};
}

void rank_listing_deinit(struct rank_listing *listing)
{
	for (size_t i = 0; i < listing->row_count; i++) {
		free(listing->rows[i].image);
		free(listing->rows[i].build_id);
	}
	free(listing->rows);
}
