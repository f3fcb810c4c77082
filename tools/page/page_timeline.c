// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/page_timeline.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/partition_point.h"
#include "tools/base/json_tree.h"

#define SECOND_NS 1000000000LL

/* struct slice - @epoch: index in the header */
struct slice {
	int64_t start_ns;
	int64_t end_ns;
	uint64_t interrupts;
	size_t epoch;
};

/* struct column - @start_ns, @end_ns: of its slices, which begin at or after the column */
struct column {
	int64_t start_ns;
	int64_t end_ns;
	uint64_t slices;
	uint64_t interrupts;
	uint64_t lost;
	uint64_t unknown;
};

/*
 * struct timeline - a timeline under construction; zero-initialised: empty
 * @slices:  by epoch, then by start
 * @times:   starts of the columns
 * @columns: as many as @times
 * @tally:   by procedure and column
 * @rows:    rows of @tally, sorted by procedure
 */
struct timeline {
	const struct page_source *source;
	struct slice *slices;
	size_t slice_count;
	size_t slice_capacity;
	size_t epoch;
	int64_t step_ns;
	int64_t *times;
	struct column *columns;
	size_t column_count;
	struct tally *tally;
	const struct tally_row **rows;
};

static void timeline_deinit(struct timeline *timeline)
{
	free(timeline->slices);
	free(timeline->times);
	free(timeline->columns);
	free(timeline->rows);
	tally_destroy(timeline->tally);
}

static int note_slice(void *context, const struct profile_slice *slice)
{
	struct timeline *timeline = context;
	const struct profile_filter *filter = &timeline->source->cli->filter;

	if (slice->start_ns < filter->since_ns ||
	    (filter->until_ns != 0 && slice->start_ns >= filter->until_ns))
		return 0;
	if (array_reserve(&timeline->slices, &timeline->slice_capacity, timeline->slice_count + 1,
			  sizeof(*timeline->slices)) < 0)
		return -ENOMEM;
	timeline->slices[timeline->slice_count++] = (struct slice){
		.start_ns = slice->start_ns,
		.end_ns = slice->end_ns > slice->start_ns ? slice->end_ns : slice->start_ns,
		.interrupts = slice->interrupts,
		.epoch = timeline->epoch,
	};
	return 0;
}

/* Read the slices of all epochs. Return: 1; 0: an epoch has samples without slices; or -errno. */
static int read_slices(struct timeline *timeline, struct error *err)
{
	const struct report_header *header = &timeline->source->calc.header;
	int r;

	for (size_t i = 0; i < header->epoch_count; i++) {
		size_t before = timeline->slice_count;

		timeline->epoch = i;
		r = profile_reader_slices(timeline->source->reader, header->epochs[i].id,
					  note_slice, timeline, err);
		if (r == -ENOMEM)
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
		if (r < 0)
			return r;
		if (timeline->slice_count == before && header->epochs[i].interrupts > 0)
			return 0;
	}
	return 1;
}

static int times_compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Return the number of columns of a length that contain at least one of some ascending times. */
static size_t columns_of(const int64_t *times, size_t count, int64_t step_ns)
{
	size_t columns = 0;

	for (size_t i = 0; i < count; i++)
		columns += i == 0 || times[i] / step_ns != times[i - 1] / step_ns;
	return columns;
}

/* Return the shortest length of columns that makes few enough of them. */
static int64_t choose_step(const int64_t *times, size_t count)
{
	static const int64_t steps_s[] = {1,   2,   5,	  10,	20,   30,    60,    120,  300,
					  600, 900, 1800, 3600, 7200, 14400, 28800, 43200};
	int64_t step_ns = 86400 * SECOND_NS;

	for (size_t i = 0; i < sizeof(steps_s) / sizeof(*steps_s); i++) {
		if (columns_of(times, count, steps_s[i] * SECOND_NS) <= PAGE_TIMELINE_COLUMNS)
			return steps_s[i] * SECOND_NS;
	}
	while (columns_of(times, count, step_ns) > PAGE_TIMELINE_COLUMNS)
		step_ns *= 2;
	return step_ns;
}

/* Divide the time into columns. Return: 1; 0: there are fewer than two; or -errno. */
static int timeline_make_columns(struct timeline *timeline, struct error *err)
{
	size_t count = timeline->slice_count, columns = 0;
	int64_t *times = timeline->times = calloc(count + 1, sizeof(*times));

	if (times == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = 0; i < count; i++)
		times[i] = timeline->slices[i].start_ns;
	if (count > 0)
		qsort(times, count, sizeof(*times), times_compare);
	/* Times before 1970 are those of a damaged database. */
	if (count < 2 || times[0] < 0)
		return 0;
	timeline->step_ns = choose_step(times, count);
	for (size_t i = 0; i < count; i++) {
		int64_t at = times[i] - times[i] % timeline->step_ns;

		if (columns == 0 || at != times[columns - 1])
			times[columns++] = at;
	}
	timeline->column_count = columns;
	timeline->columns = calloc(columns, sizeof(*timeline->columns));
	if (timeline->columns == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return columns > 1;
}

/* Return the column in which a slice begins: the last one that starts at or before it. */
static size_t column_of(const struct timeline *timeline, const struct slice *slice)
{
	size_t next = partition_point(0, timeline->column_count, i,
				      timeline->times[i] <= slice->start_ns);

	return next > 0 ? next - 1 : 0;
}

static int count_counter(void *context, const struct profile_counter *counter)
{
	struct column *column = context;

	if (strcmp(counter->group, "loss") == 0)
		column->lost += counter->count;
	else if (strcmp(counter->group, "unknown") == 0)
		column->unknown += counter->count;
	return 0;
}

/* Add the counters of one epoch to the column in which some of its slices begin. */
static int add_counters(const struct timeline *timeline, size_t column, const struct slice *slice,
			struct error *err)
{
	const struct profile_filter *filter = &timeline->source->cli->filter;
	struct profile_epoch epoch = timeline->source->calc.header.epochs[slice->epoch];

	epoch.slices = 1;
	epoch.since_ns = timeline->times[column];
	epoch.until_ns = epoch.since_ns + timeline->step_ns;
	if (epoch.since_ns < filter->since_ns)
		epoch.since_ns = filter->since_ns;
	if (filter->until_ns != 0 && epoch.until_ns > filter->until_ns)
		epoch.until_ns = filter->until_ns;
	return profile_reader_counters(timeline->source->reader, &epoch, count_counter,
				       &timeline->columns[column], err);
}

static int fill_columns(struct timeline *timeline, struct error *err)
{
	size_t last = SIZE_MAX;
	int r = 0;

	for (size_t i = 0; r == 0 && i < timeline->slice_count; i++) {
		const struct slice *slice = &timeline->slices[i];
		size_t number = column_of(timeline, slice);
		struct column *column = &timeline->columns[number];

		/* Slices of an epoch are in order, so those of a column follow one another. */
		if (number != last || slice->epoch != slice[-1].epoch)
			r = add_counters(timeline, number, slice, err);
		last = number;
		if (column->slices == 0 || slice->start_ns < column->start_ns)
			column->start_ns = slice->start_ns;
		if (slice->end_ns > column->end_ns)
			column->end_ns = slice->end_ns;
		column->slices++;
		column->interrupts += slice->interrupts;
	}
	return r;
}

/* Order rows so that those of the same procedure are equal. */
static int rows_compare(const void *a, const void *b)
{
	const struct tally_row *x = *(const struct tally_row *const *)a,
			       *y = *(const struct tally_row *const *)b;
	int r = strcmp(x->image, y->image);

	if (r == 0)
		r = strcmp(x->procedure, y->procedure);
	if (r == 0)
		r = x->has_address - y->has_address;
	return r != 0 ? r : (x->address > y->address) - (x->address < y->address);
}

static int count_samples(struct timeline *timeline, struct error *err)
{
	const char *leading = page_source_leading(timeline->source);
	struct tally_config config = page_source_config(timeline->source, TALLY_BY_PROCEDURE);
	size_t count;
	int r;

	config.events = &leading;
	config.event_count = 1;
	config.times = timeline->times;
	config.time_count = timeline->column_count;
	r = tally_create(&timeline->tally, timeline->source->reader, &config, err);
	if (r < 0)
		return r;
	count = tally_row_count(timeline->tally);
	timeline->rows = calloc(count + 1, sizeof(*timeline->rows));
	if (timeline->rows == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = 0; i < count; i++)
		timeline->rows[i] = &tally_rows(timeline->tally)[i];
	if (count > 0)
		qsort(timeline->rows, count, sizeof(*timeline->rows), rows_compare);
	return 0;
}

static int add_number(struct json_object *array, struct json_object *number)
{
	if (number == NULL || json_object_array_add(array, number) < 0) {
		json_object_put(number);
		return -ENOMEM;
	}
	return 0;
}

/* Samples minus those in @excluded, if any. Scaled ones have fractions, so that sums are exact. */
static struct json_object *timeline_number(const struct tally_count *count,
					   const struct tally_count *excluded)
{
	static const struct tally_count none;
	const struct tally_count *less = excluded != NULL ? excluded : &none;
	struct json_object *number;
	double extra = count->extra - less->extra;

	if (extra == 0 || !isfinite(extra))
		return json_object_new_int64((int64_t)(count->samples - less->samples));
	number = json_object_new_double((double)(count->samples - less->samples) + extra);
	if (number != NULL)
		json_object_set_serializer(number, json_object_double_to_json_string,
					   (void *)(uintptr_t) "%.3f", NULL);
	return number;
}

/* Add a row's counts: column, count, column, count ... without columns that have none. */
static int add_counts(struct json_object *array, const struct tally_row *row, size_t columns)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < columns; i++) {
		if (row->counts[i].samples == 0)
			continue;
		r = add_number(array, json_object_new_int64((int64_t)i));
		if (r == 0)
			r = add_number(array, timeline_number(&row->counts[i], NULL));
	}
	return r;
}

/* Add the rows in the order of the page's list, until there are too many counts. */
static int timeline_add_rows(struct json_object *rows, const struct timeline *timeline,
			     size_t limit)
{
	const struct tally_row *list = tally_rows(timeline->source->tally);
	size_t count = tally_row_count(timeline->source->tally), counts = 0;
	int r = 0;

	if (limit > 0 && limit < count)
		count = limit;
	for (size_t i = 0; r == 0 && i < count; i++) {
		const struct tally_row *key = &list[i];
		struct json_object *array = json_object_new_array();
		const struct tally_row **found =
			bsearch(&key, timeline->rows, tally_row_count(timeline->tally),
				sizeof(*timeline->rows), rows_compare);

		r = add_number(rows, array);
		if (r == 0 && found != NULL)
			r = add_counts(array, *found, timeline->column_count);
		if (r == 0)
			counts += json_object_array_length(array) / 2;
		if (counts > PAGE_TIMELINE_COUNTS)
			break;
	}
	return r;
}

/* A column as an array: see "timeline" in docs/reports.schema.json. */
static int add_column(struct json_object *columns, const struct timeline *timeline, size_t index)
{
	const struct column *column = &timeline->columns[index];
	struct json_object *array = json_object_new_array();
	const int64_t numbers[] = {
		timeline->times[index] / SECOND_NS,
		column->start_ns / (SECOND_NS / 1000),
		column->end_ns / (SECOND_NS / 1000),
		(int64_t)column->slices,
		(int64_t)column->interrupts,
		(int64_t)column->lost,
		(int64_t)column->unknown,
	};
	int r = add_number(columns, array);

	for (size_t i = 0; r == 0 && i < sizeof(numbers) / sizeof(*numbers); i++)
		r = add_number(array, json_object_new_int64(numbers[i]));
	if (r == 0)
		r = add_number(array, timeline_number(tally_total(timeline->tally, index),
						      tally_excluded(timeline->tally,
								     PROFILER_WHOLE, index)));
	return r;
}

static int add_members(struct json_object *root, const struct timeline *timeline, size_t limit)
{
	struct json_object *object = json_object_new_object();
	struct json_object *columns = json_object_new_array();
	struct json_object *rows = json_object_new_array();
	int r = json_tree_add(root, "timeline", object);

	if (r == 0)
		r = json_tree_add(object, "step_s",
				  json_object_new_int64(timeline->step_ns / SECOND_NS));
	if (r < 0 || json_tree_add(object, "columns", columns) < 0) {
		json_object_put(rows);
		return -ENOMEM;
	}
	if (json_tree_add(object, "rows", rows) < 0)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < timeline->column_count; i++)
		r = add_column(columns, timeline, i);
	return r == 0 ? timeline_add_rows(rows, timeline, limit) : r;
}

int page_timeline_add(struct page_source *source, struct page_document *document, size_t limit,
		      struct error *err)
{
	_cleanup_(timeline_deinit) struct timeline timeline = {.source = source};
	int r = read_slices(&timeline, err);

	if (r > 0)
		r = timeline_make_columns(&timeline, err);
	if (r == 0)
		return json_object_object_add(document->root, "timeline", NULL);
	if (r > 0)
		r = fill_columns(&timeline, err);
	if (r == 0)
		r = count_samples(&timeline, err);
	if (r == 0 && add_members(document->root, &timeline, limit) < 0)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return r;
}
