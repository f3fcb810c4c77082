// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/sample_listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"

#define PLACE_COLUMNS 8
#define KEYS 3 /* per event */

struct sample_row {
	const struct tally_row *row;
	const struct sample_listing *listing;
	uint64_t cumulative; /* of the first event, this row included */
};

struct sample_listing {
	struct sample_listing_config config;
	struct report_total *totals;
	struct sample_row *rows;
	size_t row_count;
	struct column *columns;
	size_t column_count;
	char **keys; /* of the columns, KEYS for each event */
	size_t key_count;
};

CLEANUP_DEFINE(sample_listing, struct sample_listing *, sample_listing_destroy)

static double sample_listing_percent(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void sample_listing_get_count(const struct column *column, const void *row,
				     struct column_value *value)
{
	const struct sample_row *line = row;

	value->count = tally_count_scaled(&line->row->counts[column->argument]);
}

static void get_samples(const struct column *column, const void *row, struct column_value *value)
{
	const struct sample_row *line = row;

	value->count = line->row->counts[column->argument].samples;
}

/* Shares refer to the samples that are not excluded. */
static uint64_t total_of(const struct sample_listing *listing, size_t event)
{
	const struct report_total *total = &listing->totals[event];

	return total->count - total->excluded - total->idle;
}

static void sample_listing_get_percent(const struct column *column, const void *row,
				       struct column_value *value)
{
	const struct sample_row *line = row;

	value->percent =
		sample_listing_percent(tally_count_scaled(&line->row->counts[column->argument]),
				       total_of(line->listing, column->argument));
	value->missing = line->row->excluded;
}

static void get_cumulative(const struct column *column, const void *row, struct column_value *value)
{
	const struct sample_row *line = row;

	value->percent =
		sample_listing_percent(line->cumulative, total_of(line->listing, column->argument));
	value->missing = line->row->excluded;
}

static void sample_listing_get_procedure(const struct column *column, const void *row,
					 struct column_value *value)
{
	const struct tally_row *line = ((const struct sample_row *)row)->row;

	(void)column;
	value->text = line->procedure;
	value->note = tally_row_note(line);
}

static void get_aliases(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = tally_row_alias_list(((const struct sample_row *)row)->row);
}

static struct json_object *make_aliases(const struct column *column, const void *row)
{
	(void)column;
	return tally_row_aliases(((const struct sample_row *)row)->row);
}

static void sample_listing_get_image(const struct column *column, const void *row,
				     struct column_value *value)
{
	const struct sample_row *line = row;

	(void)column;
	value->text = line->row->image;
	if (line->listing->config.by == TALLY_BY_IMAGE)
		value->note = line->row->note;
}

static void sample_listing_get_address(const struct column *column, const void *row,
				       struct column_value *value)
{
	const struct sample_row *line = row;

	(void)column;
	value->count = line->row->address;
	value->missing = !line->row->has_address;
}

static void get_inside(const struct column *column, const void *row, struct column_value *value)
{
	const struct sample_row *line = row;

	(void)column;
	value->count = line->row->inside;
	value->missing = !line->row->has_address;
}

static void get_offset(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->count = ((const struct sample_row *)row)->row->offset;
}

static void get_source(const struct column *column, const void *row, struct column_value *value)
{
	const struct tally_row *line = ((const struct sample_row *)row)->row;

	(void)column;
	value->text = line->source != NULL ? line->source : line->procedure;
}

static void sample_listing_get_line(const struct column *column, const void *row,
				    struct column_value *value)
{
	const struct sample_row *line = row;

	(void)column;
	value->count = line->row->line;
	value->missing = line->row->line == 0;
}

static void get_identity(const struct column *column, const void *row, struct column_value *value)
{
	const struct sample_row *line = row;

	(void)column;
	value->text = line->row->identity;
	value->missing = *line->row->identity == '\0';
}

static void sample_listing_add_column(struct sample_listing *listing, struct column column)
{
	listing->columns[listing->column_count++] = column;
}

/* Keys in JSON and CSV contain the event's name. */
static const char *make_key(struct sample_listing *listing, size_t event, const char *suffix)
{
	char *key = NULL;

	if (asprintf(&key, "%s_%s", listing->config.events[event], suffix) < 0)
		return NULL;
	listing->keys[listing->key_count++] = key;
	return key;
}

static int add_event_columns(struct sample_listing *listing, size_t event)
{
	const char *name = listing->config.events[event];
	const char *share = make_key(listing, event, "percent");
	const char *cumulative = make_key(listing, event, "cumulative_percent");
	const char *samples = make_key(listing, event, "samples");

	if (share == NULL || cumulative == NULL || samples == NULL)
		return -ENOMEM;
	sample_listing_add_column(listing, (struct column){name, name, COLUMN_COUNT, 0, event,
							   sample_listing_get_count});
	/* If counts are scaled, the number of samples taken is listed, too. */
	if (tally_total(listing->config.tally, event)->extra > 0)
		sample_listing_add_column(listing,
					  (struct column){samples, samples, COLUMN_COUNT,
							  COLUMN_DETAIL, event, get_samples});
	/* With several events, percentages are omitted if the terminal is too narrow. */
	sample_listing_add_column(listing, (struct column){"%", share, COLUMN_PERCENT,
							   event > 0 ? COLUMN_SPARE : 0, event,
							   sample_listing_get_percent});
	if (event == 0)
		sample_listing_add_column(listing,
					  (struct column){"cum%", cumulative, COLUMN_PERCENT, 0,
							  event, get_cumulative});
	return 0;
}

/* Return true for procedures and parts of them. */
static bool is_code(enum tally_by by)
{
	return by == TALLY_BY_PROCEDURE || by == TALLY_BY_INSTRUCTION;
}

static bool is_source(enum tally_by by)
{
	return by == TALLY_BY_LINE || by == TALLY_BY_FILE;
}

#define ALIASES (COLUMN_DETAIL | COLUMN_PARTS)

static void add_place_columns(struct sample_listing *listing)
{
	enum tally_by by = listing->config.by;

	if (is_code(by))
		sample_listing_add_column(listing, (struct column){"procedure", "procedure",
								   COLUMN_TEXT, COLUMN_CUT_NAME, 0,
								   sample_listing_get_procedure});
	if (is_source(by))
		sample_listing_add_column(listing,
					  (struct column){"source file", "source", COLUMN_TEXT,
							  COLUMN_CUT_START, 0, get_source});
	if (by == TALLY_BY_LINE)
		sample_listing_add_column(listing, (struct column){"line", "line", COLUMN_COUNT, 0,
								   0, sample_listing_get_line});
	if (by == TALLY_BY_INSTRUCTION) {
		sample_listing_add_column(listing,
					  (struct column){"offset", "procedure_offset",
							  COLUMN_OFFSET, 0, 0, get_inside});
		sample_listing_add_column(listing,
					  (struct column){"file offset", "file_offset",
							  COLUMN_ADDRESS, 0, 0, get_offset});
	}
	sample_listing_add_column(listing,
				  (struct column){"image", "image", COLUMN_TEXT, COLUMN_CUT_START,
						  0, sample_listing_get_image});
	if (is_code(by))
		sample_listing_add_column(listing, (struct column){"address", "address",
								   COLUMN_ADDRESS, COLUMN_DETAIL, 0,
								   sample_listing_get_address});
	sample_listing_add_column(listing, (struct column){"identity", "identity", COLUMN_TEXT,
							   COLUMN_DETAIL, 0, get_identity});
	if (is_code(by))
		sample_listing_add_column(listing,
					  (struct column){"aliases", "aliases", COLUMN_TEXT,
							  ALIASES, 0, get_aliases});
}

static int make_columns(struct sample_listing *listing)
{
	size_t events = listing->config.event_count;

	listing->columns = calloc(4 * events + PLACE_COLUMNS, sizeof(*listing->columns));
	listing->keys = calloc(KEYS * events + 1, sizeof(*listing->keys));
	if (listing->columns == NULL || listing->keys == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < events; i++) {
		if (add_event_columns(listing, i) < 0)
			return -ENOMEM;
	}
	add_place_columns(listing);
	return 0;
}

/* Sort key: an event's number, or one of these. */
#define SORT_PROCEDURE (-1)
#define SORT_IMAGE (-2)
#define SORT_ADDRESS (-3)
#define SORT_SOURCE (-4)

/* Return: a SORT_ constant that applies to this kind of rows, or 0. */
static long find_place(const char *sort, enum tally_by by)
{
	if (strcmp(sort, "image") == 0)
		return SORT_IMAGE;
	if (is_source(by))
		return strcmp(sort, "source") == 0 ? SORT_SOURCE : 0;
	if (!is_code(by))
		return 0;
	if (strcmp(sort, "procedure") == 0)
		return SORT_PROCEDURE;
	return strcmp(sort, "address") == 0 ? SORT_ADDRESS : 0;
}

static int unknown_sort(const struct sample_listing *listing, struct error *err)
{
	static const char *const places[] = {"procedure", "image", "address", "source"};
	const char *sort = listing->config.sort;
	_cleanup_(near_names_deinit) struct near_names near = {.wanted = sort};
	char text[256];

	for (size_t i = 0; i < listing->config.event_count; i++)
		near_names_add(&near, listing->config.events[i]);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (find_place(places[i], listing->config.by) < 0)
			near_names_add(&near, places[i]);
	}
	near_names_text(&near, text, sizeof(text));
	return error_set(err, EINVAL, ERROR_NO_COLUMN "%s", sort, text);
}

static int find_sort(const struct sample_listing *listing, long *ret, struct error *err)
{
	const char *sort = listing->config.sort;

	*ret = 0;
	if (sort == NULL)
		return 0;
	for (size_t i = 0; i < listing->config.event_count; i++, ++*ret) {
		if (strcmp(sort, listing->config.events[i]) == 0)
			return 0;
	}
	*ret = find_place(sort, listing->config.by);
	return *ret < 0 ? 0 : unknown_sort(listing, err);
}

struct sort_order {
	long key;
	size_t events;
};

static int compare_text(const char *a, const char *b)
{
	return a != NULL && b != NULL ? strcmp(a, b) : 0;
}

static int compare_count(const struct tally_row *a, const struct tally_row *b, size_t event)
{
	uint64_t x = tally_count_scaled(&a->counts[event]);
	uint64_t y = tally_count_scaled(&b->counts[event]);

	return (x < y) - (x > y);
}

/* Only rows of lines and files have a source. Rows without source come last. */
static int compare_source(const struct tally_row *a, const struct tally_row *b)
{
	int r = (a->source == NULL) - (b->source == NULL);

	if (r == 0)
		r = compare_text(a->source, b->source);
	return r != 0 ? r : (a->line > b->line) - (a->line < b->line);
}

/* Compare places within an image. Only rows of instructions have an offset. */
static int compare_place(const struct tally_row *a, const struct tally_row *b)
{
	int r = (a->offset > b->offset) - (a->offset < b->offset);

	if (r == 0)
		r = (a->address > b->address) - (a->address < b->address);
	return r != 0 ? r : compare_source(a, b);
}

static int compare_image(const struct tally_row *a, const struct tally_row *b)
{
	int r = strcmp(a->image, b->image);

	return r != 0 ? r : strcmp(a->identity, b->identity);
}

/* Compare by the key, then by all events in order, then by the fields that make a row unique. */
static int sample_listing_compare_rows(const void *a, const void *b, void *context)
{
	const struct tally_row *x = a, *y = b;
	const struct sort_order *order = context;
	int r = x->excluded - y->excluded;

	if (r != 0)
		return r;
	if (order->key == SORT_PROCEDURE)
		r = compare_text(x->procedure, y->procedure);
	else if (order->key == SORT_SOURCE)
		r = compare_source(x, y);
	else if (order->key < 0)
		r = compare_image(x, y);
	else
		r = compare_count(x, y, (size_t)order->key);
	if (r == 0 && order->key == SORT_ADDRESS)
		r = compare_place(x, y);
	for (size_t i = 0; r == 0 && i < order->events; i++)
		r = compare_count(x, y, i);
	if (r == 0)
		r = compare_image(x, y);
	if (r == 0)
		r = compare_text(x->procedure, y->procedure);
	return r != 0 ? r : compare_place(x, y);
}

static int make_totals(struct sample_listing *listing)
{
	size_t events = listing->config.event_count;

	listing->totals = calloc(events + 1, sizeof(*listing->totals));
	for (size_t i = 0; listing->totals != NULL && i < events; i++) {
		listing->totals[i] = (struct report_total){
			.name = listing->config.events[i],
			.count = tally_count_scaled(tally_total(listing->config.tally, i)),
			.excluded = tally_count_scaled(
				tally_excluded(listing->config.tally, PROFILER_WHOLE, i)),
			.idle = tally_count_scaled(
				tally_excluded(listing->config.tally, PROFILER_IDLE, i)),
		};
	}
	return listing->totals != NULL ? 0 : -ENOMEM;
}

static int sample_listing_make_rows(struct sample_listing *listing, const struct sort_order *order)
{
	struct tally_row *rows = tally_rows(listing->config.tally);
	size_t count = tally_row_count(listing->config.tally), limit = listing->config.limit;
	uint64_t cumulative = 0;

	if (count > 0)
		qsort_r(rows, count, sizeof(*rows), sample_listing_compare_rows,
			(void *)(uintptr_t)order);
	listing->row_count = limit > 0 && limit < count ? limit : count;
	listing->rows = calloc(listing->row_count + 1, sizeof(*listing->rows));
	if (listing->rows == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < listing->row_count; i++) {
		cumulative += rows[i].excluded ? 0 : tally_count_scaled(&rows[i].counts[0]);
		listing->rows[i] = (struct sample_row){&rows[i], listing, cumulative};
	}
	return 0;
}

int sample_listing_create(struct sample_listing **ret, const struct sample_listing_config *config,
			  struct error *err)
{
	_cleanup_(cleanup_sample_listing) struct sample_listing *listing =
		calloc(1, sizeof(*listing));
	struct sort_order order = {.events = config->event_count};
	int r;

	if (listing == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	listing->config = *config;
	r = find_sort(listing, &order.key, err);
	if (r < 0)
		return r;
	if (make_totals(listing) < 0 || sample_listing_make_rows(listing, &order) < 0 ||
	    make_columns(listing) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	*ret = take_ptr(listing);
	return 0;
}

void sample_listing_destroy(struct sample_listing *listing)
{
	if (listing == NULL)
		return;
	for (size_t i = 0; i < listing->key_count; i++)
		free(listing->keys[i]);
	free(listing->keys);
	free(listing->columns);
	free(listing->rows);
	free(listing->totals);
	free(listing);
}

static const void *sample_listing_get_row(const void *context, size_t index)
{
	return &((const struct sample_listing *)context)->rows[index];
}

struct report sample_listing_report(const struct sample_listing *listing)
{
	return (struct report){
		.totals_of = "samples for event type",
		.totals = listing->totals,
		.total_count = listing->config.event_count,
		.table =
			{
				.columns = listing->columns,
				.column_count = listing->column_count,
				.row = sample_listing_get_row,
				.context = listing,
				.row_count = listing->row_count,
				.parts = make_aliases,
			},
	};
}
