// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/data_listing.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analysis/image/data_symbols.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/text.h"
#include "tools/report/cli.h"
#include "tools/report/image_label.h"
#include "tools/report/stored_extent.h"

#define ERROR_DATABASE_DATA "database is damaged: regions of data cannot be read"
/* Quantile of the normal distribution for intervals of 95%. */
#define QUANTILE 1.96

static const char *const region_names[PROFILE_REGIONS] = {
	[PROFILE_REGION_UNKNOWN] = "(not known)",
	[PROFILE_REGION_STACK] = "stack",
	[PROFILE_REGION_HEAP] = "heap",
	[PROFILE_REGION_ANONYMOUS] = "anonymous memory",
	[PROFILE_REGION_SHARED] = "shared memory",
	[PROFILE_REGION_FILE] = "mapped file",
	[PROFILE_REGION_IMAGE] = "static data",
};

/* struct data_reading - @image: of @symbols and @path; @skipped: --image does not select it */
struct data_reading {
	struct data_listing *listing;
	struct profile_reader *reader;
	const struct cli *cli;
	struct error *err;
	int64_t image;
	struct data_symbols *symbols;
	char *path;
	bool skipped;
};

/* struct data_part - accesses to a region or a variable; @key: differs from those of all others */
struct data_part {
	uint64_t key[3];
	enum profile_region region;
	const struct data_symbol *symbol;
	double accesses;
	double nearest;
	double selected;
	struct data_units lines;
	struct data_units pages;
};

/* The hash of the key identifies a row: collisions of 64 bits do not occur in practice. */
static struct data_row *row_of(struct data_reading *reading, const struct data_part *part)
{
	struct data_listing *listing = reading->listing;
	uint64_t *slot = u64_map_insert(&listing->index, XXH3_64bits(part->key, sizeof(part->key)));
	struct data_row row = {.region = part->region, .selected = 1};

	if (slot == NULL)
		return NULL;
	if (*slot != 0)
		return &listing->rows[*slot - 1];
	if (array_reserve(&listing->rows, &listing->row_capacity, listing->row_count + 1,
			  sizeof(*listing->rows)) < 0)
		return NULL;
	if (part->region == PROFILE_REGION_IMAGE) {
		row.symbol = text_clean(part->symbol != NULL ? part->symbol->name : "<no symbol>");
		row.image = text_clean(reading->path);
	}
	listing->rows[listing->row_count++] = row;
	*slot = listing->row_count;
	return part->region == PROFILE_REGION_IMAGE && (row.symbol == NULL || row.image == NULL)
		       ? NULL
		       : &listing->rows[*slot - 1];
}

/* The same units may be counted in both. */
static void units_join(struct data_units *units, const struct data_units *other)
{
	units->least = fmax(units->least, other->least);
	units->most += other->most;
}

static int part_add(struct data_reading *reading, const struct data_part *part)
{
	struct data_row *row = row_of(reading, part);

	if (row == NULL)
		return error_set(reading->err, ENOMEM, ERROR_NO_MEMORY);
	row->accesses += part->accesses;
	row->nearest += part->nearest;
	row->selected = fmin(row->selected, part->selected);
	units_join(&row->lines, &part->lines);
	units_join(&row->pages, &part->pages);
	reading->listing->accesses += part->accesses;
	reading->listing->nearest += part->nearest;
	return 0;
}

static struct data_units units_of(const uint64_t *row, double samples)
{
	const struct data_extent extent = stored_extent(row, samples);

	return (struct data_units){.least = extent.least, .most = extent.most};
}

/* --- variables ------------------------------------------------------------- */

/* struct places - the selected accesses to an image; sums of their numbers */
struct places {
	const struct profile_recording_table *table;
	double place_bytes;
	double line_bytes;
	double page_bytes;
	double accesses;
	double nearest;
};

static struct places places_of(const struct profile_recording *recording)
{
	const uint64_t *head = profile_recording_row(&recording->tables[PROFILE_DATA_HEAD], 0);
	struct places places = {
		.table = &recording->tables[PROFILE_DATA_PLACES],
		.place_bytes = (double)head[PROFILE_DATA_PLACE_BYTES],
		.line_bytes = (double)head[PROFILE_DATA_LINE_BYTES],
		.page_bytes = (double)head[PROFILE_DATA_PAGE_BYTES],
	};

	for (size_t i = 0; i < places.table->rows; i++) {
		const uint64_t *row = profile_recording_row(places.table, i);

		places.accesses += (double)row[PROFILE_PLACE_ACCESSES];
		places.nearest += (double)row[PROFILE_PLACE_NEAREST];
	}
	return places;
}

/* The units of a variable are at least those seen, and at most those that its bytes can lie in. */
static void units_bound(struct data_units *units, double seen, const struct data_symbol *symbol,
			double unit_bytes)
{
	units->least = seen;
	units->most = symbol != NULL && unit_bytes > 0
			      ? floor(((double)symbol->bytes - 1) / unit_bytes) + 2
			      : INFINITY;
}

/* Rows [@first, @end) of the places are of one symbol, or of none. */
static int variable_add(struct data_reading *reading, const struct data_part *region,
			const struct places *places, size_t first, size_t end,
			const struct data_symbol *symbol)
{
	double accesses = 0, nearest = 0, lines = 0, pages = 0, line = NAN, page = NAN;
	struct data_part part = {.region = PROFILE_REGION_IMAGE, .symbol = symbol};

	for (size_t i = first; i < end; i++) {
		const uint64_t *row = profile_recording_row(places->table, i);
		double at = (double)profile_signed_decode(row[PROFILE_PLACE_POSITION]) *
			    places->place_bytes;

		accesses += (double)row[PROFILE_PLACE_ACCESSES];
		nearest += (double)row[PROFILE_PLACE_NEAREST];
		lines += floor(at / places->line_bytes) != line;
		pages += floor(at / places->page_bytes) != page;
		line = floor(at / places->line_bytes);
		page = floor(at / places->page_bytes);
	}
	part.key[0] = PROFILE_REGION_IMAGE;
	part.key[1] = (uint64_t)reading->image;
	part.key[2] = symbol != NULL ? symbol->address : UINT64_MAX;
	part.accesses = accesses / places->accesses * region->accesses;
	part.nearest = places->nearest > 0 ? nearest / places->nearest * region->nearest : 0;
	part.selected = region->nearest > 0 ? places->nearest / region->nearest : 1;
	units_bound(&part.lines, lines, symbol, places->line_bytes);
	units_bound(&part.pages, pages, symbol, places->page_bytes);
	return part_add(reading, &part);
}

static const struct data_symbol *symbol_at(const struct data_reading *reading,
					   const struct places *places, size_t i)
{
	const uint64_t *row = profile_recording_row(places->table, i);
	int64_t place = profile_signed_decode(row[PROFILE_PLACE_POSITION]), position;

	if (reading->symbols == NULL ||
	    __builtin_mul_overflow(place, (int64_t)places->place_bytes, &position))
		return NULL;
	return data_symbols_find(reading->symbols, position);
}

/* Places are by their encoded position: those of a symbol follow one another. */
static int variables_add(struct data_reading *reading, const struct profile_recording *recording,
			 const struct data_part *region)
{
	struct places places = places_of(recording);
	int r = 0;

	if (places.accesses <= 0 || places.line_bytes <= 0 || places.page_bytes <= 0)
		return error_set(reading->err, EBADMSG, ERROR_DATABASE_DATA);
	for (size_t first = 0, end; first < places.table->rows && r == 0; first = end) {
		const struct data_symbol *symbol = symbol_at(reading, &places, first);

		for (end = first + 1;
		     end < places.table->rows && symbol_at(reading, &places, end) == symbol;)
			end++;
		r = variable_add(reading, region, &places, first, end, symbol);
	}
	return r;
}

/* --- recordings ------------------------------------------------------------ */

/* Begin with the recordings of an image. */
static int image_enter(struct data_reading *reading, int64_t id)
{
	struct profile_image image;
	struct error ignored;
	int r;

	if (reading->path != NULL && reading->image == id)
		return 0;
	data_symbols_close(take_ptr(reading->symbols));
	free(take_ptr(reading->path));
	r = profile_reader_image(reading->reader, id, &image, reading->err);
	if (r < 0)
		return r;
	reading->image = id;
	reading->path = strdup(image.path);
	if (reading->path == NULL)
		return error_set(reading->err, ENOMEM, ERROR_NO_MEMORY);
	image.path = reading->path;
	reading->skipped =
		reading->cli->image != NULL && !image_label_matches(&image, reading->cli->image);
	/* Without its file, the variables of an image have no names. */
	if (!reading->skipped && image.kind == PROFILE_IMAGE_FILE &&
	    data_symbols_open(&reading->symbols, &image, &reading->cli->debug, &ignored) == -ENOMEM)
		return error_set(reading->err, ENOMEM, ERROR_NO_MEMORY);
	return 0;
}

static int region_row_add(struct data_reading *reading, const struct profile_recording *recording,
			  const uint64_t *row)
{
	double accesses = (double)row[PROFILE_DATA_ACCESSES];
	struct data_part part = {
		.key = {row[PROFILE_DATA_REGION]},
		.region = (enum profile_region)row[PROFILE_DATA_REGION],
		.accesses = accesses,
		.nearest = (double)row[PROFILE_DATA_NEAREST],
		.selected = 1,
	};

	if (row[PROFILE_DATA_REGION] >= PROFILE_REGIONS || row[PROFILE_DATA_ACCESSES] == 0 ||
	    row[PROFILE_DATA_NEAREST] > row[PROFILE_DATA_ACCESSES])
		return error_set(reading->err, EBADMSG, ERROR_DATABASE_DATA);
	if (part.region == PROFILE_REGION_IMAGE)
		return variables_add(reading, recording, &part);
	part.lines = units_of(&row[PROFILE_DATA_LINES], accesses);
	part.pages = units_of(&row[PROFILE_DATA_PAGES], accesses);
	return part_add(reading, &part);
}

static int data_recording_take(void *context, const struct profile_recording *recording)
{
	const struct profile_recording_table *regions = &recording->tables[PROFILE_DATA_REGIONS];
	struct data_reading *reading = context;
	int r;

	if (!profile_recording_has(recording, PROFILE_DATA_HEAD, PROFILE_DATA_HEAD_COLUMNS) ||
	    !profile_recording_has(recording, PROFILE_DATA_REGIONS, PROFILE_DATA_REGION_COLUMNS) ||
	    !profile_recording_has(recording, PROFILE_DATA_PLACES, PROFILE_PLACE_COLUMNS) ||
	    recording->tables[PROFILE_DATA_HEAD].rows != 1)
		return error_set(reading->err, EBADMSG, ERROR_DATABASE_DATA);
	r = image_enter(reading, recording->image);
	for (size_t i = 0; i < regions->rows && r == 0 && !reading->skipped; i++)
		r = region_row_add(reading, recording, profile_recording_row(regions, i));
	return r;
}

/* --- columns --------------------------------------------------------------- */

enum data_number {
	DATA_ACCESSES,
	DATA_NEAREST,
	DATA_LOW,
	DATA_HIGH,
	DATA_LINES_LEAST,
	DATA_LINES_MOST,
	DATA_PAGES_LEAST,
	DATA_PAGES_MOST,
};

static double data_number_of(const struct data_row *row, size_t number)
{
	switch ((enum data_number)number) {
	case DATA_ACCESSES:
		return row->accesses;
	case DATA_NEAREST:
		return row->nearest;
	case DATA_LOW:
		return row->low;
	case DATA_HIGH:
		return row->high;
	case DATA_LINES_LEAST:
		return row->lines.least;
	case DATA_LINES_MOST:
		return row->lines.most;
	case DATA_PAGES_LEAST:
		return row->pages.least;
	case DATA_PAGES_MOST:
		return row->pages.most;
	}
	return 0;
}

static void get_number(const struct column *column, const void *row, struct column_value *value)
{
	double number = data_number_of(row, column->argument);

	value->missing = !isfinite(number);
	if (column->type == COLUMN_COUNT)
		value->count = isfinite(number) ? (uint64_t)llround(number) : 0;
	else
		value->number = number;
}

static void data_get_percent(const struct column *column, const void *row,
			     struct column_value *value)
{
	(void)column;
	value->percent = ((const struct data_row *)row)->percent;
}

static void get_error(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct data_row *)row)->error;
}

static void get_units(const struct column *column, const void *row, struct column_value *value)
{
	const struct data_row *data = row;

	value->text = column->argument == DATA_LINES_LEAST ? data->lines.text : data->pages.text;
}

static void get_region(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = region_names[((const struct data_row *)row)->region];
}

static void get_symbol(const struct column *column, const void *row, struct column_value *value)
{
	const struct data_row *data = row;

	value->text = data->symbol;
	value->missing = data->symbol == NULL;
	if (value->missing && (column->flags & COLUMN_TEXT_ONLY) != 0) {
		value->text = region_names[data->region];
		value->missing = false;
	}
}

static void data_get_image(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct data_row *)row)->image;
	value->missing = value->text == NULL;
}

static const struct column data_columns[] = {
	{"samples", "samples", COLUMN_COUNT, 0, DATA_NEAREST, get_number},
	{"%", "percent", COLUMN_PERCENT, 0, 0, data_get_percent},
	{"95%", "percent_interval", COLUMN_TEXT, COLUMN_TEXT_ONLY, 0, get_error},
	{"low", "percent_low", COLUMN_NUMBER, COLUMN_DETAIL, DATA_LOW, get_number},
	{"high", "percent_high", COLUMN_NUMBER, COLUMN_DETAIL, DATA_HIGH, get_number},
	{"accesses", "accesses", COLUMN_COUNT, 0, DATA_ACCESSES, get_number},
	{"lines", "lines", COLUMN_TEXT, COLUMN_TEXT_ONLY, DATA_LINES_LEAST, get_units},
	{"least lines", "lines_least", COLUMN_COUNT, COLUMN_DETAIL, DATA_LINES_LEAST, get_number},
	{"most lines", "lines_most", COLUMN_COUNT, COLUMN_DETAIL, DATA_LINES_MOST, get_number},
	{"pages", "pages", COLUMN_TEXT, COLUMN_TEXT_ONLY, DATA_PAGES_LEAST, get_units},
	{"least pages", "pages_least", COLUMN_COUNT, COLUMN_DETAIL, DATA_PAGES_LEAST, get_number},
	{"most pages", "pages_most", COLUMN_COUNT, COLUMN_DETAIL, DATA_PAGES_MOST, get_number},
	{"data", "data", COLUMN_TEXT, COLUMN_TEXT_ONLY | COLUMN_CUT_END, 0, get_symbol},
	{"region", "region", COLUMN_TEXT, COLUMN_DETAIL, 0, get_region},
	{"symbol", "symbol", COLUMN_TEXT, COLUMN_DETAIL, 0, get_symbol},
	{"image", "image", COLUMN_TEXT, COLUMN_CUT_START, 0, data_get_image},
};

/* --- rows ------------------------------------------------------------------ */

/* The score interval of a share (Wilson, Probable inference, 1927). */
static void interval_set(struct data_row *row, double total)
{
	double n = total * row->selected, p = total > 0 ? row->nearest / total : 0;
	double z2 = QUANTILE * QUANTILE, center, half;

	row->percent = 100 * p;
	row->high = 100;
	if (n > 0) {
		center = (p + z2 / (2 * n)) / (1 + z2 / n);
		half = QUANTILE * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
		row->low = 100 * fmax(center - half, 0);
		row->high = 100 * fmin(center + half, 1);
	}
	snprintf(row->error, sizeof(row->error), "%.1f-%.1f%%", row->low, row->high);
}

static void units_print(struct data_units *units)
{
	if (isfinite(units->most) && units->most - units->least < 0.5)
		snprintf(units->text, sizeof(units->text), "%.0f", units->least);
	else if (isfinite(units->most))
		snprintf(units->text, sizeof(units->text), "%.0f-%.0f", units->least, units->most);
	else
		snprintf(units->text, sizeof(units->text), ">= %.0f", units->least);
}

static int data_rows_compare(const void *a, const void *b, void *column)
{
	const struct data_row *x = a, *y = b;
	int r = columns_compare(column, a, b);

	if (r == 0)
		r = (x->accesses < y->accesses) - (x->accesses > y->accesses);
	if (r == 0)
		r = (x->region > y->region) - (x->region < y->region);
	if (r == 0 && x->symbol != NULL && y->symbol != NULL)
		r = strcmp(x->symbol, y->symbol);
	return r;
}

static int rows_settle(struct data_listing *listing, const char *sort, struct error *err)
{
	const struct column *column = &data_columns[0];

	if (sort != NULL)
		column = columns_find(data_columns, DATA_LISTING_COLUMNS, sort);
	if (column == NULL)
		return columns_unknown(data_columns, DATA_LISTING_COLUMNS, sort, err);
	for (size_t i = 0; i < listing->row_count; i++) {
		interval_set(&listing->rows[i], listing->nearest);
		units_print(&listing->rows[i].lines);
		units_print(&listing->rows[i].pages);
	}
	qsort_r(listing->rows, listing->row_count, sizeof(*listing->rows), data_rows_compare,
		(void *)(uintptr_t)column);
	return 0;
}

int data_listing_make(struct data_listing *ret, struct profile_reader *reader,
		      const struct cli *cli, struct error *err)
{
	struct data_reading reading = {.listing = ret, .reader = reader, .cli = cli, .err = err};
	int r;

	_Static_assert(sizeof(data_columns) / sizeof(*data_columns) == DATA_LISTING_COLUMNS,
		       "all columns");
	r = profile_reader_recordings(reader, &cli->filter, PROFILE_RECORDING_DATA,
				      data_recording_take, &reading, err);
	data_symbols_close(reading.symbols);
	free(reading.path);
	if (r < 0)
		return r;
	if (ret->row_count == 0)
		return error_set(err, ENOENT, "'%s' has no addresses of data", cli->database);
	ret->limit = cli->limit;
	return rows_settle(ret, cli->sort, err);
}

void data_listing_deinit(struct data_listing *listing)
{
	for (size_t i = 0; i < listing->row_count; i++) {
		free(listing->rows[i].symbol);
		free(listing->rows[i].image);
	}
	free(listing->rows);
	u64_map_deinit(&listing->index);
	*listing = (struct data_listing){.row_count = 0};
}

static const void *data_listing_row(const void *context, size_t index)
{
	return &((const struct data_listing *)context)->rows[index];
}

struct report data_listing_report(struct data_listing *listing)
{
	size_t count = listing->row_count;

	listing->totals[0] = (struct report_total){.name = "samples at accesses",
						   .count = (uint64_t)llround(listing->nearest)};
	listing->totals[1] = (struct report_total){.name = "accesses",
						   .count = (uint64_t)llround(listing->accesses)};
	return (struct report){
		.totals_of = "addresses of data:",
		.totals = listing->totals,
		.total_count = 2,
		.table =
			{
				.columns = data_columns,
				.column_count = DATA_LISTING_COLUMNS,
				.row = data_listing_row,
				.context = listing,
				.row_count = listing->limit > 0 && listing->limit < count
						     ? listing->limit
						     : count,
			},
	};
}
