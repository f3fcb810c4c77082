// SPDX-License-Identifier: GPL-2.0-only
#include "tools/stats_listing.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"

#define KEY_BYTES 32
#define LINE_WIDTH 72

struct stats_row {
	const struct stats_listing *listing;
	size_t index; /* in the table */
	const struct variation_row *numbers;
};

struct stats_listing {
	struct stats_listing_config config;
	const struct sample_sets *sets;
	const struct set_table *table;
	struct variation_cell *rest; /* samples in no row: where only some images are asked for */
	struct variation variation;
	struct stats_row *rows;
	size_t row_count;
	size_t small; /* rows with less than config.least */
	struct column *columns;
	size_t column_count;
	char (*keys)[KEY_BYTES]; /* of columns, one a set */
	bool several_images;
};

CLEANUP_DEFINE(stats_listing, struct stats_listing *, stats_listing_destroy)

static const char *const norm_names[] = {
	[VARIATION_COUNTS] = "none",
	[VARIATION_TIME] = "time",
	[VARIATION_TOTAL] = "total",
	[VARIATION_REST] = "rest",
};

const char *stats_listing_norm_name(enum variation_norm norm)
{
	return norm < sizeof(norm_names) / sizeof(*norm_names) ? norm_names[norm] : NULL;
}

/* Which number a column shows. */
enum number {
	NUMBER_RANGE,
	NUMBER_SUM,
	NUMBER_SHARE,
	NUMBER_PRESENT,
	NUMBER_MEAN,
	NUMBER_STD_DEV,
	NUMBER_MIN,
	NUMBER_MAX,
	NUMBER_HALF,
	NUMBER_LEAST,
	NUMBER_MOST,
	NUMBER_SAMPLES,
	NUMBER_SPREAD,
	NUMBER_SPREAD_LOW,
	NUMBER_SPREAD_HIGH,
	NUMBER_DISPERSION,
	NUMBER_P,
	NUMBER_Q,
	NUMBER_DIFF,
	NUMBER_DIFF_SIZE,
	NUMBER_DIFF_HALF,
	NUMBER_CHANGE,
	NUMBER_SET, /* and those that follow: normalised cells */
};

/* What the test has nothing to say of is missing. */
static bool is_of_test(size_t number)
{
	return number >= NUMBER_SPREAD && number <= NUMBER_Q;
}

static double value_of(const struct stats_row *row, size_t set)
{
	const struct stats_listing *listing = row->listing;

	return listing->variation.values[row->index * listing->sets->count + set];
}

/* 95% of differences that sampling makes by chance are less; of counts large enough. */
static double diff_half(const struct stats_row *row)
{
	const struct stats_listing *listing = row->listing;
	const struct set_table_row table = set_table_row(listing->table, row->index);
	double variance = 0;

	for (size_t set = 0; set < 2; set++) {
		double value = value_of(row, set);

		if (table.cells[set].samples > 0)
			variance += value * value / table.cells[set].samples;
	}
	/* A share of a total: binomial. */
	if (listing->config.norm >= VARIATION_TOTAL)
		variance *= 1 - row->numbers->share;
	return 1.959964 * sqrt(variance);
}

static double diff_of(const struct stats_row *row, size_t number)
{
	double before = value_of(row, 0), diff = value_of(row, 1) - before;

	switch (number) {
	case NUMBER_DIFF_SIZE:
		return fabs(diff);
	case NUMBER_DIFF_HALF:
		return diff_half(row);
	case NUMBER_CHANGE:
		return before > 0 ? 100 * diff / before : 0;
	}
	return diff;
}

static double number_of(const struct stats_row *row, size_t number)
{
	const struct variation_row *numbers = row->numbers;

	switch (number) {
	case NUMBER_RANGE:
		return 100 * numbers->range;
	case NUMBER_SUM:
		return numbers->sum;
	case NUMBER_SHARE:
		return 100 * numbers->share;
	case NUMBER_MEAN:
		return numbers->mean;
	case NUMBER_STD_DEV:
		return numbers->std_dev;
	case NUMBER_MIN:
		return numbers->min;
	case NUMBER_MAX:
		return numbers->max;
	case NUMBER_HALF:
		return numbers->half;
	case NUMBER_SPREAD:
		return 100 * numbers->spread;
	case NUMBER_SPREAD_LOW:
		return 100 * numbers->spread_low;
	case NUMBER_SPREAD_HIGH:
		return 100 * numbers->spread_high;
	case NUMBER_DISPERSION:
		return numbers->dispersion;
	case NUMBER_P:
		return numbers->p;
	case NUMBER_Q:
		return numbers->q;
	case NUMBER_DIFF:
	case NUMBER_DIFF_SIZE:
	case NUMBER_DIFF_HALF:
	case NUMBER_CHANGE:
		return diff_of(row, number);
	default:
		return value_of(row, number - NUMBER_SET);
	}
}

static void get_number(const struct column *column, const void *row, struct column_value *value)
{
	const struct stats_row *line = row;

	value->number = number_of(line, column->argument);
	value->missing = (is_of_test(column->argument) && !line->numbers->tested) ||
			 (column->argument == NUMBER_CHANGE && value_of(line, 0) <= 0);
}

static void get_count(const struct column *column, const void *row, struct column_value *value)
{
	const struct variation_row *numbers = ((const struct stats_row *)row)->numbers;

	switch (column->argument) {
	case NUMBER_PRESENT:
		value->count = numbers->present;
		break;
	case NUMBER_LEAST:
		value->count = numbers->least + 1;
		break;
	case NUMBER_MOST:
		value->count = numbers->most + 1;
		break;
	default:
		value->count = (uint64_t)numbers->samples;
		break;
	}
}

static void get_mark(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->count = ((const struct stats_row *)row)->numbers->significant;
	value->text = value->count != 0 ? "*" : "";
}

static const struct tally_row *tally_of(const void *row)
{
	const struct stats_row *line = row;

	return set_table_row(line->listing->table, line->index).tally;
}

static void get_procedure(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = tally_of(row)->procedure;
}

static void get_samples(const struct column *column, const void *row, struct column_value *value)
{
	const struct stats_row *line = row;
	const struct set_table_row table = set_table_row(line->listing->table, line->index);

	value->count = (uint64_t)table.cells[column->argument].samples;
}

static void get_inside(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->count = tally_of(row)->inside;
	value->missing = !tally_of(row)->has_address;
}

static void get_offset(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->count = tally_of(row)->offset;
}

static void get_identity(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = tally_of(row)->identity;
	value->missing = *tally_of(row)->identity == '\0';
}

static void get_image(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = tally_of(row)->file->path;
}

#define DETAIL COLUMN_DETAIL
#define WHOLE COLUMN_DECIMALS(0)

/* What text shows besides: @TEST with --test only, @FIGURE without. */
#define TEST 0x10000U
#define FIGURE 0x20000U

/* The columns, in order; a set's cells and the place come last. */
static const struct column all_columns[] = {
	{"range%", "range_percent", COLUMN_PERCENT, 0, NUMBER_RANGE, get_number},
	{"sum", "sum", COLUMN_NUMBER, FIGURE | WHOLE, NUMBER_SUM, get_number},
	{"%", "percent", COLUMN_PERCENT, FIGURE, NUMBER_SHARE, get_number},
	{"N", "n", COLUMN_COUNT, FIGURE, NUMBER_PRESENT, get_count},
	{"mean", "mean", COLUMN_NUMBER, WHOLE, NUMBER_MEAN, get_number},
	{"\xc2\xb1"
	 "95%",
	 "mean_interval", COLUMN_NUMBER, TEST | WHOLE, NUMBER_HALF, get_number},
	{"std-dev", "std_dev", COLUMN_NUMBER, FIGURE | COLUMN_DECIMALS(2), NUMBER_STD_DEV,
	 get_number},
	{"min", "min", COLUMN_NUMBER, FIGURE | WHOLE, NUMBER_MIN, get_number},
	{"max", "max", COLUMN_NUMBER, FIGURE | WHOLE, NUMBER_MAX, get_number},
	{"min set", "min_set", COLUMN_COUNT, DETAIL, NUMBER_LEAST, get_count},
	{"max set", "max_set", COLUMN_COUNT, DETAIL, NUMBER_MOST, get_count},
	{"samples", "samples", COLUMN_COUNT, DETAIL, NUMBER_SAMPLES, get_count},
	{"spread", "spread_percent", COLUMN_PERCENT, TEST, NUMBER_SPREAD, get_number},
	{"from", "spread_low_percent", COLUMN_PERCENT, TEST, NUMBER_SPREAD_LOW, get_number},
	{"to", "spread_high_percent", COLUMN_PERCENT, TEST, NUMBER_SPREAD_HIGH, get_number},
	{"disp", "dispersion", COLUMN_NUMBER, TEST | COLUMN_DECIMALS(1), NUMBER_DISPERSION,
	 get_number},
	{"p", "p", COLUMN_PROBABILITY, DETAIL, NUMBER_P, get_number},
	{"q", "q", COLUMN_PROBABILITY, TEST, NUMBER_Q, get_number},
	{"*", "mark", COLUMN_TEXT, COLUMN_TEXT_ONLY, 0, get_mark},
	{"significant", "significant", COLUMN_BOOLEAN, DETAIL, 0, get_mark},
};

#define COLUMNS (sizeof(all_columns) / sizeof(*all_columns))

/* Those of a difference. */
static const struct column diff_columns[] = {
	{"before", "before", COLUMN_NUMBER, WHOLE, NUMBER_SET, get_number},
	{"after", "after", COLUMN_NUMBER, WHOLE, NUMBER_SET + 1, get_number},
	{"diff", "difference", COLUMN_NUMBER, WHOLE, NUMBER_DIFF, get_number},
	{"\xc2\xb1"
	 "95%",
	 "difference_interval", COLUMN_NUMBER, WHOLE, NUMBER_DIFF_HALF, get_number},
	{"change", "change_percent", COLUMN_PERCENT, 0, NUMBER_CHANGE, get_number},
	{"samples before", "samples_before", COLUMN_COUNT, DETAIL, 0, get_samples},
	{"samples after", "samples_after", COLUMN_COUNT, DETAIL, 1, get_samples},
	{"p", "p", COLUMN_PROBABILITY, DETAIL, NUMBER_P, get_number},
	{"q", "q", COLUMN_PROBABILITY, 0, NUMBER_Q, get_number},
	{"*", "mark", COLUMN_TEXT, COLUMN_TEXT_ONLY, 0, get_mark},
	{"significant", "significant", COLUMN_BOOLEAN, DETAIL, 0, get_mark},
};

#define DIFF_COLUMNS (sizeof(diff_columns) / sizeof(*diff_columns))

/* What differences are sorted by. */
static const struct column diff_size = {"", "", COLUMN_NUMBER, 0, NUMBER_DIFF_SIZE, get_number};

static void add_column(struct stats_listing *listing, struct column column)
{
	listing->columns[listing->column_count++] = column;
}

static void add_place(struct stats_listing *listing)
{
	struct column image = {"image", "image", COLUMN_TEXT, COLUMN_CUT_START, 0, get_image};

	if (listing->config.by != TALLY_BY_IMAGE) {
		add_column(listing, (struct column){"procedure", "procedure", COLUMN_TEXT,
						    COLUMN_CUT_END, 0, get_procedure});
		image.flags |= listing->several_images ? COLUMN_SPARE : COLUMN_DETAIL;
	}
	if (listing->config.by == TALLY_BY_INSTRUCTION) {
		add_column(listing, (struct column){"offset", "procedure_offset", COLUMN_ADDRESS, 0,
						    0, get_inside});
		add_column(listing, (struct column){"file offset", "file_offset", COLUMN_ADDRESS,
						    DETAIL, 0, get_offset});
		/* Instructions of different builds are told by it. */
		add_column(listing, (struct column){"identity", "identity", COLUMN_TEXT, DETAIL, 0,
						    get_identity});
	}
	add_column(listing, image);
}

static int make_columns(struct stats_listing *listing)
{
	bool diff = listing->config.form == STATS_LISTING_DIFF;
	size_t sets = listing->sets->count, count = diff ? DIFF_COLUMNS : COLUMNS;
	unsigned int hidden = listing->config.form == STATS_LISTING_TEST ? FIGURE : TEST;

	listing->columns = calloc(COLUMNS + DIFF_COLUMNS + sets + 5, sizeof(*listing->columns));
	listing->keys = calloc(sets, sizeof(*listing->keys));
	if (listing->columns == NULL || listing->keys == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct column column = diff ? diff_columns[i] : all_columns[i];

		column.flags |= column.flags & hidden ? COLUMN_DETAIL : 0;
		column.flags &= ~(TEST | FIGURE);
		add_column(listing, column);
	}
	for (size_t set = 0; set < sets && !diff; set++) {
		snprintf(listing->keys[set], KEY_BYTES, "set_%zu", set + 1);
		add_column(listing,
			   (struct column){listing->keys[set], listing->keys[set], COLUMN_NUMBER,
					   DETAIL, NUMBER_SET + set, get_number});
	}
	add_place(listing);
	return 0;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct stats_row *x = a, *y = b;
	const struct column *const *order = context;
	int r = 0;

	/* A few samples have any range. */
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
	const struct column *usual =
		diff ? &diff_size : columns_find(listing->columns, listing->column_count, "range%");
	const struct column *order[] = {
		sort != NULL ? columns_find(listing->columns, listing->column_count, sort) : usual,
		usual,
		columns_find(listing->columns, listing->column_count, diff ? "before" : "sum"),
		NULL};

	if (order[0] == NULL)
		return error_set(err, EINVAL, "cannot sort by \"%s\": no such column", sort);
	if (listing->row_count > 0)
		qsort_r(listing->rows, listing->row_count, sizeof(*listing->rows), compare_rows,
			order);
	if (listing->config.limit > 0 && listing->config.limit < listing->row_count)
		listing->row_count = listing->config.limit;
	return 0;
}

static int make_rows(struct stats_listing *listing)
{
	size_t count = set_table_count(listing->table);

	listing->rows = calloc(count + 1, sizeof(*listing->rows));
	if (listing->rows == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct variation_row *numbers = &listing->variation.rows[i];
		struct stats_row *row = &listing->rows[listing->row_count];

		if (numbers->share < listing->config.least) {
			listing->small++;
			continue;
		}
		*row = (struct stats_row){listing, i, numbers};
		listing->several_images |= strcmp(tally_of(row)->file->path,
						  tally_of(&listing->rows[0])->file->path) != 0;
		listing->row_count++;
	}
	return 0;
}

/* What the sets have beside the table's rows. */
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
	struct variation_config config = {
		.sets = sets->count,
		.seconds = seconds,
		.norm = listing->config.norm,
		.null = listing->config.null,
		.level = listing->config.level,
	};

	if (seconds == NULL || make_rest(listing) < 0)
		return error_set(err, ENOMEM, "out of memory");
	config.rest = listing->rest;
	for (size_t set = 0; set < sets->count; set++)
		seconds[set] = sets->list[set].seconds;
	return variation_find(&listing->variation, &config, set_table_cells(listing->table),
			      set_table_count(listing->table), err);
}

int stats_listing_create(struct stats_listing **ret, const struct stats_listing_config *config,
			 const struct sample_sets *sets, const struct set_table *table,
			 struct error *err)
{
	_cleanup_(cleanup_stats_listing) struct stats_listing *listing =
		calloc(1, sizeof(*listing));
	int r;

	if (listing == NULL)
		return error_set(err, ENOMEM, "out of memory");
	listing->config = *config;
	listing->sets = sets;
	listing->table = table;
	if (config->form == STATS_LISTING_DIFF && sets->count != 2)
		return error_set(err, EINVAL, "there are %zu sets, and not two to compare",
				 sets->count);
	r = compute(listing, err);
	if (r < 0)
		return r;
	if (make_rows(listing) < 0 || make_columns(listing) < 0)
		return error_set(err, ENOMEM, "out of memory");
	r = sort_rows(listing, err);
	if (r == 0)
		*ret = take_ptr(listing);
	return r;
}

void stats_listing_destroy(struct stats_listing *listing)
{
	if (listing == NULL)
		return;
	variation_deinit(&listing->variation);
	free(listing->rest);
	free(listing->rows);
	free(listing->columns);
	free(listing->keys);
	free(listing);
}

static const void *get_row(const void *context, size_t index)
{
	return &((const struct stats_listing *)context)->rows[index];
}

/* Puts words into lines of LINE_WIDTH; @column: where the line has got to. */
static void print_word(FILE *stream, const char *word, size_t *column, const char *indent)
{
	size_t length = strlen(word);

	if (*column > 0 && *column + 1 + length > LINE_WIDTH) {
		fputc('\n', stream);
		fputs(indent, stream);
		*column = strlen(indent);
	} else if (*column > strlen(indent)) {
		fputc(' ', stream);
		++*column;
	}
	fputs(word, stream);
	*column += length;
}

static const char *row_name(const struct stats_listing *listing)
{
	static const char *const names[] = {
		[TALLY_BY_PROCEDURE] = "procedure",
		[TALLY_BY_IMAGE] = "image",
		[TALLY_BY_INSTRUCTION] = "instruction",
	};

	return names[listing->config.by];
}

/* The figure's first lines. */
static void print_preface(FILE *stream, const void *context)
{
	const struct stats_listing *listing = context;
	const struct sample_sets *sets = listing->sets;
	double total = 0;
	size_t column = 0;

	fprintf(stream, "Number of samples of type %s\n", sets->event);
	for (size_t set = 0; set < sets->count; set++) {
		char word[80];

		snprintf(word, sizeof(word), "set %zu = %.0f", set + 1,
			 listing->variation.totals[set].value);
		print_word(stream, word, &column, "");
		total += listing->variation.totals[set].value;
	}
	fprintf(stream, "\nTOTAL: %.0f\n\n", total);
}

static void print_sets(FILE *stream, const struct sample_sets *sets)
{
	static const char indent[] = "            ";
	char word[256];
	size_t column = strlen(indent);

	fputs("sets        ", stream);
	if (sets->by == SAMPLE_SETS_BY_NR)
		snprintf(word, sizeof(word), "as named:");
	else
		snprintf(word, sizeof(word), "by %s:", sample_sets_by_name(sets->by));
	print_word(stream, word, &column, indent);
	for (size_t set = 0; set < sets->count; set++) {
		snprintf(word, sizeof(word), "%s%s",
			 *sets->list[set].name != '\0' ? sets->list[set].name : "(none)",
			 set + 1 < sets->count ? "," : "");
		print_word(stream, word, &column, indent);
	}
	fputc('\n', stream);
	if (sets->left_out > 0)
		fprintf(stream, "left out    %zu epoch(s) without samples of %s\n", sets->left_out,
			sets->event);
	if (sets->scaled_period)
		fputs("periods     differ: samples are scaled to the first epoch's\n", stream);
}

static void print_norm(FILE *stream, const struct stats_listing *listing)
{
	static const char *const texts[] = {
		[VARIATION_COUNTS] = "none: sets count as the same work",
		[VARIATION_TIME] = "by time: samples a second, of sets of average length",
		[VARIATION_TOTAL] = "by total: shares of a set's samples, of an average set",
		[VARIATION_REST] = "by the total of what does not vary",
	};

	fprintf(stream, "normalized  %s", texts[listing->config.norm]);
	if (listing->config.norm == VARIATION_REST)
		fprintf(stream, " (%zu left out)", listing->variation.removed);
	fputc('\n', stream);
}

static void print_test(FILE *stream, const struct stats_listing *listing)
{
	const struct variation *variation = &listing->variation;

	fprintf(stream, "test        * %s more than %s: %zu of %zu tested\n",
		listing->config.form == STATS_LISTING_DIFF ? "differs" : "varies",
		listing->config.null == VARIATION_OTHERS ? "sampling and the others explain"
							 : "sampling explains",
		variation->significant, variation->tested);
	fprintf(stream,
		"            (dispersion, chi-square; %g%% false ones, Benjamini-Hochberg)\n",
		100 * listing->config.level);
	if (listing->config.null == VARIATION_OTHERS)
		fprintf(stream, "            the others' spread: %.1f%%\n",
			100 * variation->background);
}

static void print_caption(FILE *stream, const void *context)
{
	const struct stats_listing *listing = context;

	print_sets(stream, listing->sets);
	print_norm(stream, listing);
	print_test(stream, listing);
	if (listing->config.form == STATS_LISTING_DIFF) {
		fputc('\n', stream);
		return;
	}
	fprintf(stream, "\nStatistics using the sample counts for each %s from %zu sample set(s)\n",
		row_name(listing), listing->sets->count);
	for (int i = 0; i < LINE_WIDTH; i++)
		fputc('=', stream);
	fputc('\n', stream);
}

static void print_footer(FILE *stream, const void *context)
{
	const struct stats_listing *listing = context;

	if (listing->small > 0)
		fprintf(stream, "\n%zu %s(s) with less than %g%% of the samples not listed\n",
			listing->small, row_name(listing), 100 * listing->config.least);
}

/* Takes @value over, also on failure. */
static int add(struct json_object *object, const char *key, struct json_object *value)
{
	if (value != NULL && json_object_object_add(object, key, value) == 0)
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

static struct json_object *number_json(double number)
{
	char text[32];

	snprintf(text, sizeof(text), "%.9g", number);
	return json_object_new_double_s(number, text);
}

static struct json_object *set_json(const struct stats_listing *listing, size_t number)
{
	const struct sample_set *set = &listing->sets->list[number];
	struct json_object *object = json_object_new_object();

	if (object == NULL)
		return NULL;
	if (add(object, "set", json_object_new_uint64(number + 1)) < 0 ||
	    add(object, "name", json_object_new_string(set->name)) < 0 ||
	    add(object, "epochs", json_object_new_uint64(set->epochs)) < 0 ||
	    add(object, "seconds", number_json(set->seconds)) < 0 ||
	    add(object, "samples", number_json(listing->variation.totals[number].value)) < 0 ||
	    add(object, "factor", number_json(listing->variation.factors[number])) < 0) {
		json_object_put(object);
		return NULL;
	}
	return object;
}

static int add_sets(struct json_object *object, const struct stats_listing *listing)
{
	struct json_object *list = json_object_new_array();

	if (add(object, "sets", list) < 0)
		return -ENOMEM;
	for (size_t set = 0; set < listing->sets->count; set++) {
		struct json_object *item = set_json(listing, set);

		if (item == NULL || json_object_array_add(list, item) < 0) {
			json_object_put(item);
			return -ENOMEM;
		}
	}
	return 0;
}

static int preface_json(struct json_object *object, const void *context)
{
	const struct stats_listing *listing = context;
	const struct sample_sets *sets = listing->sets;
	const char *by = sets->by == SAMPLE_SETS_BY_NR ? "name" : sample_sets_by_name(sets->by);
	bool others = listing->config.null == VARIATION_OTHERS;

	if (add(object, "event", json_object_new_string(sets->event)) < 0 ||
	    add(object, "sets_by", json_object_new_string(by)) < 0 ||
	    add_sets(object, listing) < 0 ||
	    add(object, "epochs_left_out", json_object_new_uint64(sets->left_out)) < 0 ||
	    add(object, "periods_differ", json_object_new_boolean(sets->scaled_period)) < 0 ||
	    add(object, "normalized", json_object_new_string(norm_names[listing->config.norm])) <
		    0 ||
	    add(object, "against", json_object_new_string(others ? "others" : "sampling")) < 0 ||
	    add(object, "background_percent", number_json(100 * listing->variation.background)) <
		    0 ||
	    add(object, "level", number_json(listing->config.level)) < 0 ||
	    add(object, "correction", json_object_new_string("Benjamini-Hochberg")) < 0 ||
	    add(object, "tested", json_object_new_uint64(listing->variation.tested)) < 0 ||
	    add(object, "significant", json_object_new_uint64(listing->variation.significant)) <
		    0 ||
	    add(object, "not_listed", json_object_new_uint64(listing->small)) < 0)
		return -ENOMEM;
	return 0;
}

struct report stats_listing_report(const struct stats_listing *listing)
{
	return (struct report){
		.preface = {print_preface, preface_json, listing},
		.caption = print_caption,
		.footer = print_footer,
		.table =
			{
				.columns = listing->columns,
				.column_count = listing->column_count,
				.row = get_row,
				.context = listing,
				.row_count = listing->row_count,
			},
	};
}
