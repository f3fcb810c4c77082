// SPDX-License-Identifier: GPL-2.0-only
#include "tools/stats/stats_listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/stats/stats_parts.h"

CLEANUP_DEFINE(stats_listing, struct stats_listing *, stats_listing_destroy)

static const char *const norm_names[] = {
	[SIGNIFICANCE_COUNTS] = "none",
	[SIGNIFICANCE_TIME] = "time",
	[SIGNIFICANCE_TOTAL] = "total",
	[SIGNIFICANCE_REST] = "rest",
};

const char *stats_listing_norm_name(enum significance_norm norm)
{
	return norm < sizeof(norm_names) / sizeof(*norm_names) ? norm_names[norm] : NULL;
}

static int stats_listing_compare_rows(const void *a, const void *b, void *context)
{
	const struct stats_row *x = a, *y = b;
	const struct column *const *order = context;
	int r = 0;

	/* Rows that were not tested come last, because few samples may have any range. */
	if (x->listing->config.sort == NULL && x->listing->config.form != STATS_LISTING_DIFF)
		r = y->numbers->tested - x->numbers->tested;
	for (; r == 0 && *order != NULL; order++)
		r = columns_compare(*order, a, b);
	/* The table's rows are in order of image and name. */
	return r != 0 ? r : (x->index > y->index) - (x->index < y->index);
}

static int sort_rows(struct stats_listing *listing, struct error *err)
{
	const char *sort = listing->config.sort;
	bool diff = listing->config.form == STATS_LISTING_DIFF;
	const struct column *usual = stats_columns_usual(listing);
	const struct column *order[] = {
		sort != NULL ? columns_find(listing->columns, listing->column_count, sort) : usual,
		usual,
		columns_find(listing->columns, listing->column_count, diff ? "before" : "sum"),
		NULL};

	if (order[0] == NULL)
		return columns_unknown(listing->columns, listing->column_count, sort, err);
	if (listing->row_count > 0)
		qsort_r(listing->rows, listing->row_count, sizeof(*listing->rows),
			stats_listing_compare_rows, order);
	if (listing->config.limit > 0 && listing->config.limit < listing->row_count)
		listing->row_count = listing->config.limit;
	return 0;
}

static const char *path_of(const struct stats_row *row)
{
	return set_table_row(row->listing->table, row->index).tally->file->path;
}

static int stats_listing_make_rows(struct stats_listing *listing)
{
	size_t count = set_table_count(listing->table);

	listing->rows = calloc(count + 1, sizeof(*listing->rows));
	if (listing->rows == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct significance_row *numbers = &listing->significance.rows[i];
		struct stats_row *row = &listing->rows[listing->row_count];

		if (numbers->share < listing->config.least) {
			listing->small++;
			continue;
		}
		*row = (struct stats_row){listing, i, numbers};
		listing->several_images |= strcmp(path_of(row), path_of(&listing->rows[0])) != 0;
		listing->row_count++;
	}
	return 0;
}

/* Compute the samples of each set that are in no row. */
static int make_rest(struct stats_listing *listing)
{
	listing->rest = calloc(listing->sets->count, sizeof(*listing->rest));
	if (listing->rest == NULL)
		return -ENOMEM;
	for (size_t set = 0; set < listing->sets->count; set++)
		listing->rest[set] = set_table_rest(listing->table, set);
	return 0;
}

static int compute(struct stats_listing *listing, struct error *err)
{
	const struct sample_sets *sets = listing->sets;
	_cleanup_free_ double *seconds = calloc(sets->count, sizeof(*seconds));
	struct significance_config config = {
		.sets = sets->count,
		.seconds = seconds,
		.norm = listing->config.norm,
		.null = listing->config.null,
		.level = listing->config.level,
	};

	if (seconds == NULL || make_rest(listing) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	config.rest = listing->rest;
	for (size_t set = 0; set < sets->count; set++)
		seconds[set] = sets->list[set].seconds;
	return significance_find(&listing->significance, &config, set_table_cells(listing->table),
				 set_table_count(listing->table), err);
}

/* If a row belongs to the profiler in part, the profiler may cause the whole difference. */
static void drop_doubtful(struct stats_listing *listing)
{
	for (size_t i = 0; i < set_table_count(listing->table); i++) {
		struct significance_row *numbers = &listing->significance.rows[i];

		if (!numbers->significant || !set_table_row(listing->table, i).tally->in_part)
			continue;
		numbers->significant = false;
		listing->significance.significant--;
	}
}

int stats_listing_create(struct stats_listing **ret, const struct stats_listing_config *config,
			 const struct sample_sets *sets, const struct set_table *table,
			 struct error *err)
{
	_cleanup_(cleanup_stats_listing) struct stats_listing *listing =
		calloc(1, sizeof(*listing));
	int r;

	if (listing == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	listing->config = *config;
	listing->sets = sets;
	listing->table = table;
	if (config->form == STATS_LISTING_DIFF && sets->count != 2)
		return error_set(err, EINVAL, "a comparison needs two sets, not %zu", sets->count);
	r = compute(listing, err);
	if (r < 0)
		return r;
	drop_doubtful(listing);
	if (stats_listing_make_rows(listing) < 0 || stats_columns_make(listing) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = sort_rows(listing, err);
	if (r == 0)
		*ret = take_ptr(listing);
	return r;
}

void stats_listing_destroy(struct stats_listing *listing)
{
	if (listing == NULL)
		return;
	significance_deinit(&listing->significance);
	free(listing->rest);
	free(listing->rows);
	free(listing->columns);
	free(listing->keys);
	free(listing);
}

static const void *stats_listing_get_row(const void *context, size_t index)
{
	return &((const struct stats_listing *)context)->rows[index];
}

struct report stats_listing_report(const struct stats_listing *listing)
{
	return (struct report){
		.preface = {stats_form_text, stats_form_json, listing},
		.notes = stats_form_notes,
		.caption = stats_form_caption,
		.footer = stats_form_footer,
		.table =
			{
				.columns = listing->columns,
				.column_count = listing->column_count,
				.row = stats_listing_get_row,
				.context = listing,
				.row_count = listing->row_count,
				.parts = stats_columns_aliases,
			},
	};
}
