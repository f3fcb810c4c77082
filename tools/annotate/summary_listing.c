// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/summary_listing.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/json_tree.h"
#include "tools/annotate/calc_heading.h"
#include "tools/annotate/calc_json.h"
#include "tools/annotate/calc_summary.h"

#define KEY_BYTES 40
#define CAUSES ((size_t)CULPRIT_CAUSES + 1) /* including unexplained stalls */

/* struct summary_row - an image or a procedure; owns its texts */
struct summary_row {
	char *image;
	char *build_id;
	struct procedure_names names; /* empty for images */
	const char *model;
	struct stall_summary sum;
	double all_samples;
	char cause[64]; /* main cause of lost cycles */
	size_t index;
};

static void free_row(struct summary_row *row)
{
	free(row->image);
	free(row->build_id);
	procedure_names_deinit(&row->names);
}

/* @names: ownership is taken; NULL: the row is an image. */
static int summary_add_row(struct summary_listing *listing, struct procedure_names *names)
{
	struct summary_row row = {
		.image = strdup(listing->choice->image->image.path),
		.build_id = strdup(image_code_build_id(listing->choice->code)),
		.model = listing->model->name,
		.all_samples = listing->all_samples,
		.index = listing->row_count,
	};

	if (names != NULL) {
		row.names = *names;
		*names = (struct procedure_names){0};
	}
	if (row.image == NULL || row.build_id == NULL ||
	    array_reserve(&listing->rows, &listing->capacity, listing->row_count + 1, sizeof(row)) <
		    0) {
		free_row(&row);
		return -ENOMEM;
	}
	listing->rows[listing->row_count++] = row;
	return 0;
}

int summary_listing_image(void *context, const struct calc_choice *choice,
			  const struct machine_model *model)
{
	struct summary_listing *listing = context;

	listing->choice = choice;
	listing->model = model;
	counted_images_take(&listing->counted, choice);
	return listing->by_procedure ? 0 : summary_add_row(listing, NULL);
}

int summary_listing_procedure(void *context, const struct procedure_analysis *analysis)
{
	struct summary_listing *listing = context;
	const struct culprit_input input = procedure_analysis_input(analysis);

	if (listing->by_procedure) {
		struct procedure_names names = {0};

		if (calc_procedure_names(&names, listing->choice->code, analysis->index,
					 listing->demangle) < 0 ||
		    summary_add_row(listing, &names) < 0)
			return -ENOMEM;
	}
	stall_summary_add(&listing->sum, &input, &analysis->culprits);
	stall_summary_add(&listing->rows[listing->row_count - 1].sum, &input, &analysis->culprits);
	return 0;
}

static double summary_listing_share(const struct stall_summary *sum, double samples)
{
	return sum->tallied > 0 ? 100 * samples / sum->tallied : 0;
}

/*
 * Return true if @cause costs more than @than. Lower bounds take precedence over upper bounds. On
 * out-of-order machines all lower bounds are 0. The cause "window full" (CULPRIT_OTHER) may be a
 * consequence of any other cause, so it must have twice the upper bound of the other cause.
 */
static bool is_worse(const struct stall_summary *sum, unsigned int cause, unsigned int than)
{
	double high = sum->high[cause], other = sum->high[than];

	if (sum->low[cause] != sum->low[than])
		return sum->low[cause] > sum->low[than];
	if (cause == CULPRIT_OTHER)
		return high > 2 * other;
	return than == CULPRIT_OTHER ? 2 * high > other : high > other;
}

/* Set the cause to "D-cache miss 12-40%". */
static void name_cause(struct summary_row *row)
{
	const struct stall_summary *sum = &row->sum;
	const char *name;
	unsigned int worst = 0;

	for (unsigned int i = 1; i < CAUSES; i++) {
		if (is_worse(sum, i, worst))
			worst = i;
	}
	if (sum->high[worst] <= 0)
		return;
	name = sum->in_order ? culprit_name((enum culprit_cause)worst)
			     : culprit_modern_name((enum culprit_cause)worst);
	if (summary_listing_share(sum, sum->high[worst]) -
		    summary_listing_share(sum, sum->low[worst]) <
	    0.5)
		snprintf(row->cause, sizeof(row->cause), "%s %.0f%%", name,
			 summary_listing_share(sum, sum->high[worst]));
	else
		snprintf(row->cause, sizeof(row->cause), "%s %.0f-%.0f%%", name,
			 summary_listing_share(sum, sum->low[worst]),
			 summary_listing_share(sum, sum->high[worst]));
}

static void get_samples(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->count = (uint64_t)(((const struct summary_row *)row)->sum.samples + 0.5);
}

static void summary_listing_get_percent(const struct column *column, const void *row,
					struct column_value *value)
{
	const struct summary_row *line = row;

	(void)column;
	value->percent = line->all_samples > 0 ? 100 * line->sum.samples / line->all_samples : 0;
}

/* @argument of the column selects best-case or actual cycles. */
static void get_cpi(const struct column *column, const void *row, struct column_value *value)
{
	const struct stall_summary *sum = &((const struct summary_row *)row)->sum;
	double cycles = column->argument == 0 ? sum->best_cycles : sum->actual_cycles;

	value->number = cycles / sum->instructions;
	value->missing = !isfinite(value->number);
}

enum part {
	PART_DYNAMIC,
	PART_STATIC,
	PART_EXECUTION,
	PART_ERROR,
	PART_GAIN,
	PART_LOW, /* of causes, low and high alternately */
};

static void get_part(const struct column *column, const void *row, struct column_value *value)
{
	const struct stall_summary *sum = &((const struct summary_row *)row)->sum;
	size_t cause = (column->argument - PART_LOW) / 2;
	double samples = 0;

	if (column->argument == PART_DYNAMIC)
		samples = sum->dynamic;
	else if (column->argument == PART_GAIN)
		samples = sum->gain;
	else if (column->argument == PART_EXECUTION)
		samples = sum->execution;
	else if (column->argument == PART_ERROR)
		samples = sum->sampling_error;
	else if (column->argument >= PART_LOW)
		samples =
			(column->argument - PART_LOW) % 2 == 0 ? sum->low[cause] : sum->high[cause];
	for (unsigned int i = 0; column->argument == PART_STATIC && i < STALL_KINDS; i++)
		samples += sum->stalls[i];
	value->percent = summary_listing_share(sum, samples);
	if (fabs(value->percent) < 0.00005)
		value->percent = 0; /* no "-0.0%" */
	value->missing = sum->tallied <= 0;
}

static void get_cause(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct summary_row *)row)->cause;
	value->missing = value->text[0] == '\0';
}

static void summary_listing_get_procedure(const struct column *column, const void *row,
					  struct column_value *value)
{
	(void)column;
	value->text = ((const struct summary_row *)row)->names.name;
	value->note = ((const struct summary_row *)row)->names.note;
}

static void get_alias_list(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct summary_row *)row)->names.list;
}

static struct json_object *get_aliases(const struct column *column, const void *row)
{
	const struct procedure_names *names = &((const struct summary_row *)row)->names;

	(void)column;
	return json_tree_texts(names->aliases, names->alias_count);
}

static void summary_listing_get_image(const struct column *column, const void *row,
				      struct column_value *value)
{
	(void)column;
	value->text = ((const struct summary_row *)row)->image;
}

static void get_build_id(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct summary_row *)row)->build_id;
	value->missing = value->text[0] == '\0';
}

static void get_model(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct summary_row *)row)->model;
}

static const struct column fixed_columns[] = {
	{"samples", "samples", COLUMN_COUNT, 0, 0, get_samples},
	{"%", "percent", COLUMN_PERCENT, 0, 0, summary_listing_get_percent},
	{"best", "best_cpi", COLUMN_NUMBER, COLUMN_DECIMALS(2), 0, get_cpi},
	{"CPI", "actual_cpi", COLUMN_NUMBER, COLUMN_DECIMALS(2), 1, get_cpi},
	{"dynamic", "dynamic_percent", COLUMN_PERCENT, 0, PART_DYNAMIC, get_part},
	{"static", "static_percent", COLUMN_PERCENT, 0, PART_STATIC, get_part},
	{"exec", "execution_percent", COLUMN_PERCENT, 0, PART_EXECUTION, get_part},
	{"gain", "unexplained_gain_percent", COLUMN_PERCENT, COLUMN_DETAIL, PART_GAIN, get_part},
	{"error", "sampling_error_percent", COLUMN_PERCENT, COLUMN_DETAIL, PART_ERROR, get_part},
	{"main cause", "main_cause", COLUMN_TEXT, COLUMN_TEXT_ONLY | COLUMN_CUT_END, 0, get_cause},
};

#define FIXED (sizeof(fixed_columns) / sizeof(*fixed_columns))

static void summary_listing_add_column(struct summary_listing *listing, struct column column)
{
	listing->columns[listing->column_count++] = column;
}

static int make_columns(struct summary_listing *listing)
{
	listing->columns = calloc(FIXED + 2 * CAUSES + 5, sizeof(*listing->columns));
	listing->keys = calloc(2 * CAUSES, sizeof(*listing->keys));
	if (listing->columns == NULL || listing->keys == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < FIXED; i++)
		summary_listing_add_column(listing, fixed_columns[i]);
	for (size_t i = 0; i < 2 * CAUSES; i++) {
		snprintf(listing->keys[i], KEY_BYTES, "%s_%s_percent",
			 culprit_key((enum culprit_cause)(i / 2)), i % 2 == 0 ? "low" : "high");
		summary_listing_add_column(
			listing, (struct column){listing->keys[i], listing->keys[i], COLUMN_PERCENT,
						 COLUMN_DETAIL, PART_LOW + i, get_part});
	}
	if (listing->by_procedure)
		summary_listing_add_column(listing, (struct column){"procedure", "procedure",
								    COLUMN_TEXT, COLUMN_CUT_NAME, 0,
								    summary_listing_get_procedure});
	if (listing->by_procedure)
		summary_listing_add_column(
			listing, (struct column){"aliases", "aliases", COLUMN_TEXT,
						 COLUMN_DETAIL | COLUMN_PARTS, 0, get_alias_list});
	summary_listing_add_column(
		listing,
		(struct column){"image", "image", COLUMN_TEXT,
				COLUMN_CUT_START | (listing->by_procedure ? COLUMN_SPARE : 0), 0,
				summary_listing_get_image});
	summary_listing_add_column(listing, (struct column){"build-id", "build_id", COLUMN_TEXT,
							    COLUMN_DETAIL, 0, get_build_id});
	summary_listing_add_column(listing, (struct column){"model", "model", COLUMN_TEXT,
							    COLUMN_DETAIL, 0, get_model});
	return 0;
}

static int summary_listing_compare_rows(const void *a, const void *b, void *column)
{
	const struct summary_row *x = a, *y = b;
	int r = columns_compare(column, a, b);

	if (r == 0)
		r = columns_compare(&fixed_columns[0], a, b);
	return r != 0 ? r : (x->index > y->index) - (x->index < y->index);
}

/* Images without an analysed procedure get no row. */
static void drop_empty_rows(struct summary_listing *listing)
{
	size_t kept = 0;

	for (size_t i = 0; i < listing->row_count; i++) {
		if (listing->rows[i].sum.samples > 0)
			listing->rows[kept++] = listing->rows[i];
		else
			free_row(&listing->rows[i]);
	}
	listing->row_count = kept;
}

int summary_listing_finish(struct summary_listing *listing, const char *sort, size_t limit,
			   struct error *err)
{
	const struct column *column;

	if (make_columns(listing) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	drop_empty_rows(listing);
	stall_summary_settle(&listing->sum);
	for (size_t i = 0; i < listing->row_count; i++)
		stall_summary_settle(&listing->rows[i].sum);
	column = columns_find(listing->columns, listing->column_count,
			      sort != NULL ? sort : "samples");
	if (column == NULL)
		return columns_unknown(listing->columns, listing->column_count, sort, err);
	if (listing->row_count > 0)
		qsort_r(listing->rows, listing->row_count, sizeof(*listing->rows),
			summary_listing_compare_rows, (void *)(uintptr_t)column);
	listing->shown = limit > 0 && limit < listing->row_count ? limit : listing->row_count;
	for (size_t i = 0; i < listing->shown; i++)
		name_cause(&listing->rows[i]);
	return 0;
}

static double analysed_percent(const struct summary_listing *listing)
{
	return listing->all_samples > 0 ? 100 * listing->sum.samples / listing->all_samples : 0;
}

static void print_total(FILE *stream, const void *context)
{
	const struct summary_listing *listing = context;

	fprintf(stream, "Total samples for event type %s = %.0f\n\n", listing->events->time,
		listing->all_samples);
}

static void print_summary(FILE *stream, const void *context)
{
	const struct summary_listing *listing = context;

	fprintf(stream, "analysed    %.1f%% of the samples, in %zu procedure%s of %zu image%s",
		analysed_percent(listing), listing->procedures, listing->procedures == 1 ? "" : "s",
		listing->analysed, listing->analysed == 1 ? "" : "s");
	fputc('\n', stream);
	calc_rest_print(stream, &listing->rest, listing->all_samples);
	calc_heading_epochs(stream, listing->events);
	counted_images_print(stream, &listing->counted);
	fputc('\n', stream);
	calc_summary_print(stream, &listing->sum, listing->all_samples);
	fputc('\n', stream);
}

/* Parse dcpicalc's JSON of a summary, so that its format is defined in one place. */
static struct json_object *sum_json(const struct stall_summary *sum)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *line, *object = NULL;
	size_t bytes = 0;
	FILE *stream = open_memstream(&text, &bytes);

	if (stream == NULL)
		return NULL;
	calc_json_summary(stream, NULL, NULL, NULL, NULL, sum);
	if (fclose(stream) != 0)
		return NULL;
	line = json_tokener_parse(text);
	if (json_object_object_get_ex(line, "summary", &object))
		json_object_get(object);
	json_object_put(line);
	return object;
}

static int summary_json(struct json_object *object, const void *context)
{
	const struct summary_listing *listing = context;

	if (json_tree_add(object, "event", json_object_new_string(listing->events->time)) < 0 ||
	    json_tree_add(object, "time_samples",
			  json_object_new_uint64((uint64_t)listing->all_samples)) < 0 ||
	    json_tree_add(object, "images", json_object_new_uint64(listing->images)) < 0 ||
	    json_tree_add(object, "images_analysed", json_object_new_uint64(listing->analysed)) <
		    0 ||
	    json_tree_add(object, "procedures", json_object_new_uint64(listing->procedures)) < 0)
		return -ENOMEM;
	if (json_tree_add(object, "left_out", calc_rest_json(&listing->rest)) < 0)
		return -ENOMEM;
	return json_tree_add(object, "summary", sum_json(&listing->sum));
}

static const void *summary_listing_get_row(const void *context, size_t index)
{
	return &((const struct summary_listing *)context)->rows[index];
}

struct report summary_listing_report(const struct summary_listing *listing)
{
	return (struct report){
		.preface = {print_total, summary_json, listing},
		.caption = print_summary,
		.table =
			{
				.columns = listing->columns,
				.column_count = listing->column_count,
				.row = summary_listing_get_row,
				.context = listing,
				.row_count = listing->shown,
				.parts = get_aliases,
			},
	};
}

void summary_listing_deinit(struct summary_listing *listing)
{
	for (size_t i = 0; i < listing->row_count; i++)
		free_row(&listing->rows[i]);
	free(listing->rows);
	free(listing->columns);
	free(listing->keys);
	*listing = (struct summary_listing){0};
}
