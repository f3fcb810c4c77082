// SPDX-License-Identifier: GPL-2.0-only
/* The columns of variation and difference reports. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tools/stats/stats_parts.h"

/* Selects the number that a column shows. */
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
	NUMBER_SET, /* and the following: normalised cells */
};

/* Return true for numbers of the test, which are missing in rows without a test. */
static bool is_of_test(size_t number)
{
	return number >= NUMBER_SPREAD && number <= NUMBER_Q;
}

static double stats_columns_value_of(const struct stats_row *row, size_t set)
{
	const struct stats_listing *listing = row->listing;

	return listing->significance.values[row->index * listing->sets->count + set];
}

/*
 * Half width of the 95% interval of sampling noise in a difference, for sufficiently large counts.
 */
static double diff_half(const struct stats_row *row)
{
	const struct stats_listing *listing = row->listing;
	const struct set_table_row table = set_table_row(listing->table, row->index);
	double variance = 0;

	for (size_t set = 0; set < 2; set++) {
		double value = stats_columns_value_of(row, set);

		if (table.cells[set].samples > 0)
			variance += value * value / table.cells[set].samples;
	}
	/* The variance of a share is binomial. */
	if (listing->config.norm >= SIGNIFICANCE_TOTAL)
		variance *= 1 - row->numbers->share;
	return 1.959964 * sqrt(variance);
}

static double diff_of(const struct stats_row *row, size_t number)
{
	double before = stats_columns_value_of(row, 0),
	       diff = stats_columns_value_of(row, 1) - before;

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
	const struct significance_row *numbers = row->numbers;

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
		return stats_columns_value_of(row, number - NUMBER_SET);
	}
}

static void get_number(const struct column *column, const void *row, struct column_value *value)
{
	const struct stats_row *line = row;

	value->number = number_of(line, column->argument);
	value->missing =
		(is_of_test(column->argument) && !line->numbers->tested) ||
		(column->argument == NUMBER_CHANGE && stats_columns_value_of(line, 0) <= 0);
}

static void stats_columns_get_count(const struct column *column, const void *row,
				    struct column_value *value)
{
	const struct significance_row *numbers = ((const struct stats_row *)row)->numbers;

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

static void stats_columns_get_procedure(const struct column *column, const void *row,
					struct column_value *value)
{
	(void)column;
	value->text = tally_of(row)->procedure;
	value->note = tally_row_note(tally_of(row));
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

static void get_source(const struct column *column, const void *row, struct column_value *value)
{
	const struct tally_row *tally = tally_of(row);

	(void)column;
	value->text = tally->source != NULL ? tally->source : tally->procedure;
}

static void stats_columns_get_line(const struct column *column, const void *row,
				   struct column_value *value)
{
	(void)column;
	value->count = tally_of(row)->line;
	value->missing = value->count == 0;
}

static void stats_columns_get_image(const struct column *column, const void *row,
				    struct column_value *value)
{
	(void)column;
	value->text = tally_of(row)->file->path;
}

#define DETAIL COLUMN_DETAIL
#define WHOLE COLUMN_DECIMALS(0)

/* Restrict columns in text: @TEST to reports with --test, @FIGURE to those without. */
#define TEST 0x10000U
#define FIGURE 0x20000U

/* The columns in order; cells of sets and the place come last. */
static const struct column all_columns[] = {
	{"range%", "range_percent", COLUMN_PERCENT, 0, NUMBER_RANGE, get_number},
	{"sum", "sum", COLUMN_NUMBER, FIGURE | WHOLE, NUMBER_SUM, get_number},
	{"%", "percent", COLUMN_PERCENT, FIGURE, NUMBER_SHARE, get_number},
	{"N", "n", COLUMN_COUNT, FIGURE, NUMBER_PRESENT, stats_columns_get_count},
	{"mean", "mean", COLUMN_NUMBER, WHOLE, NUMBER_MEAN, get_number},
	{"\xc2\xb1"
	 "95%",
	 "mean_interval", COLUMN_NUMBER, TEST | WHOLE, NUMBER_HALF, get_number},
	{"std-dev", "std_dev", COLUMN_NUMBER, FIGURE | COLUMN_DECIMALS(2), NUMBER_STD_DEV,
	 get_number},
	{"min", "min", COLUMN_NUMBER, FIGURE | WHOLE, NUMBER_MIN, get_number},
	{"max", "max", COLUMN_NUMBER, FIGURE | WHOLE, NUMBER_MAX, get_number},
	{"min set", "min_set", COLUMN_COUNT, DETAIL, NUMBER_LEAST, stats_columns_get_count},
	{"max set", "max_set", COLUMN_COUNT, DETAIL, NUMBER_MOST, stats_columns_get_count},
	{"samples", "samples", COLUMN_COUNT, DETAIL, NUMBER_SAMPLES, stats_columns_get_count},
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

/* The columns of a difference. */
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

static void stats_columns_add_column(struct stats_listing *listing, struct column column)
{
	listing->columns[listing->column_count++] = column;
}

static void get_aliases(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = tally_row_alias_list(tally_of(row));
}

struct json_object *stats_columns_aliases(const struct column *column, const void *row)
{
	(void)column;
	return tally_row_aliases(tally_of(row));
}

static bool has_procedures(enum tally_by by)
{
	return by == TALLY_BY_PROCEDURE || by == TALLY_BY_INSTRUCTION;
}

static void add_place(struct stats_listing *listing)
{
	struct column image = {"image",		 "image", COLUMN_TEXT,
			       COLUMN_CUT_START, 0,	  stats_columns_get_image};

	enum tally_by by = listing->config.by;

	if (by == TALLY_BY_LINE || by == TALLY_BY_FILE)
		stats_columns_add_column(listing,
					 (struct column){"source file", "source", COLUMN_TEXT,
							 COLUMN_CUT_START, 0, get_source});
	else if (has_procedures(by))
		stats_columns_add_column(listing, (struct column){"procedure", "procedure",
								  COLUMN_TEXT, COLUMN_CUT_NAME, 0,
								  stats_columns_get_procedure});
	if (by == TALLY_BY_LINE)
		stats_columns_add_column(listing, (struct column){"line", "line", COLUMN_COUNT, 0,
								  0, stats_columns_get_line});
	if (by != TALLY_BY_IMAGE)
		image.flags |= listing->several_images ? COLUMN_SPARE : COLUMN_DETAIL;
	if (listing->config.by == TALLY_BY_INSTRUCTION) {
		stats_columns_add_column(listing, (struct column){"offset", "procedure_offset",
								  COLUMN_OFFSET, 0, 0, get_inside});
		stats_columns_add_column(listing,
					 (struct column){"file offset", "file_offset",
							 COLUMN_ADDRESS, DETAIL, 0, get_offset});
		/* Distinguishes instructions of different builds. */
		stats_columns_add_column(listing,
					 (struct column){"identity", "identity", COLUMN_TEXT,
							 DETAIL, 0, get_identity});
	}
	stats_columns_add_column(listing, image);
	if (has_procedures(by))
		stats_columns_add_column(listing,
					 (struct column){"aliases", "aliases", COLUMN_TEXT,
							 DETAIL | COLUMN_PARTS, 0, get_aliases});
}

int stats_columns_make(struct stats_listing *listing)
{
	bool diff = listing->config.form == STATS_LISTING_DIFF;
	size_t sets = listing->sets->count, count = diff ? DIFF_COLUMNS : COLUMNS;
	unsigned int hidden = listing->config.form == STATS_LISTING_TEST ? FIGURE : TEST;

	listing->columns = calloc(COLUMNS + DIFF_COLUMNS + sets + 6, sizeof(*listing->columns));
	listing->keys = calloc(sets, sizeof(*listing->keys));
	if (listing->columns == NULL || listing->keys == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct column column = diff ? diff_columns[i] : all_columns[i];

		column.flags |= column.flags & hidden ? COLUMN_DETAIL : 0;
		column.flags &= ~(TEST | FIGURE);
		stats_columns_add_column(listing, column);
	}
	for (size_t set = 0; set < sets && !diff; set++) {
		snprintf(listing->keys[set], STATS_KEY_BYTES, "set_%zu", set + 1);
		stats_columns_add_column(listing,
					 (struct column){listing->keys[set], listing->keys[set],
							 COLUMN_NUMBER, DETAIL, NUMBER_SET + set,
							 get_number});
	}
	add_place(listing);
	return 0;
}

const struct column *stats_columns_usual(const struct stats_listing *listing)
{
	static const struct column diff_size = {"",	   "", COLUMN_NUMBER, 0, NUMBER_DIFF_SIZE,
						get_number};

	if (listing->config.form == STATS_LISTING_DIFF)
		return &diff_size;
	return columns_find(listing->columns, listing->column_count, "range%");
}
