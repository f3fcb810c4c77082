// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/top_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/image/procedure_names.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "tools/base/json_tree.h"
#include "tools/base/text.h"
#include "tools/report/image_label.h"

static void get_now_share(const struct column *column, const void *row, struct column_value *value)
{
	const struct top_row *place = row;

	(void)column;
	value->percent = place->interval_share;
	value->missing = !place->has_interval || place->excluded;
}

static void get_rate(const struct column *column, const void *row, struct column_value *value)
{
	const struct top_row *place = row;

	(void)column;
	value->number = place->rate;
	value->missing = !place->has_interval;
}

static void get_total_share(const struct column *column, const void *row,
			    struct column_value *value)
{
	(void)column;
	value->percent = ((const struct top_row *)row)->total_share;
	value->missing = ((const struct top_row *)row)->excluded;
}

static void get_total(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->count = ((const struct top_row *)row)->total;
}

static void top_view_get_procedure(const struct column *column, const void *row,
				   struct column_value *value)
{
	(void)column;
	value->text = ((const struct top_row *)row)->procedure;
	value->note = ((const struct top_row *)row)->note;
}

static void get_alias_list(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct top_row *)row)->names->list;
}

static struct json_object *make_aliases(const struct column *column, const void *row)
{
	const struct procedure_names *names = ((const struct top_row *)row)->names;

	(void)column;
	return json_tree_texts(names->aliases, names->alias_count);
}

static void get_path(const struct column *column, const void *row, struct column_value *value)
{
	const struct top_row *place = row;

	(void)column;
	value->text = place->path;
	value->note = place->procedure == NULL ? place->note : NULL;
}

#define NOW_SHARE                                                                                  \
	{                                                                                          \
		"now%", "interval_percent", COLUMN_PERCENT, 0, 0, get_now_share                    \
	}
#define RATE                                                                                       \
	{                                                                                          \
		"per s", "samples_per_second", COLUMN_NUMBER, COLUMN_SPARE | COLUMN_DECIMALS(1),   \
			0, get_rate                                                                \
	}
#define TOTAL_SHARE                                                                                \
	{                                                                                          \
		"total%", "total_percent", COLUMN_PERCENT, COLUMN_SPARE, 0, get_total_share        \
	}
#define TOTAL                                                                                      \
	{                                                                                          \
		"total", "total", COLUMN_COUNT, COLUMN_SPARE, 0, get_total                         \
	}
#define PATH                                                                                       \
	{                                                                                          \
		"image", "image", COLUMN_TEXT, COLUMN_CUT_START, 0, get_path                       \
	}

static const struct column image_columns[] = {NOW_SHARE, RATE, TOTAL_SHARE, TOTAL, PATH};

static const struct column procedure_columns[] = {
	NOW_SHARE,
	RATE,
	TOTAL_SHARE,
	TOTAL,
	{"procedure", "procedure", COLUMN_TEXT, COLUMN_CUT_NAME, 0, top_view_get_procedure},
	{"aliases", "aliases", COLUMN_TEXT, COLUMN_DETAIL | COLUMN_PARTS, 0, get_alias_list},
	PATH,
};

enum line_column {
	LINE_ADDRESS,
	LINE_TEXT,
	LINE_SHARE,
	LINE_NOW,
	LINE_RAN,
	LINE_CPI,
	LINE_CAUSES,
	LINE_CULPRITS,
};

static void top_view_get_line(const struct column *column, const void *row,
			      struct column_value *value)
{
	const struct top_line *line = row;

	switch ((enum line_column)column->argument) {
	case LINE_ADDRESS:
		value->count = line->address;
		break;
	case LINE_TEXT:
		value->text = line->text;
		break;
	case LINE_SHARE:
		value->percent = line->share;
		break;
	case LINE_NOW:
		value->number = line->interval;
		value->missing = !line->has_interval;
		break;
	case LINE_RAN:
		value->text = line->ran;
		break;
	case LINE_CPI:
		value->text = line->cpi;
		break;
	case LINE_CAUSES:
		value->text = line->causes;
		break;
	case LINE_CULPRITS:
		value->text = line->culprits;
		break;
	}
}

static const struct column code_columns[] = {
	{"address", "address", COLUMN_ADDRESS, 0, LINE_ADDRESS, top_view_get_line},
	{"%", "percent", COLUMN_PERCENT, 0, LINE_SHARE, top_view_get_line},
	{"now", "interval", COLUMN_NUMBER, COLUMN_DECIMALS(0), LINE_NOW, top_view_get_line},
	{"ran", "executions", COLUMN_TEXT, COLUMN_SPARE, LINE_RAN, top_view_get_line},
	{"cycles", "cycles", COLUMN_TEXT, 0, LINE_CPI, top_view_get_line},
	{"why", "causes", COLUMN_TEXT, 0, LINE_CAUSES, top_view_get_line},
	{"instruction", "instruction", COLUMN_TEXT, COLUMN_CUT_END, LINE_TEXT, top_view_get_line},
	{"culprit", "culprits", COLUMN_TEXT, COLUMN_SPARE, LINE_CULPRITS, top_view_get_line},
};

#define COLUMNS(list) (list), sizeof(list) / sizeof(*(list))

static const struct level {
	const struct column *columns;
	size_t count;
} levels[] = {
	[TOP_IMAGES] = {COLUMNS(image_columns)},
	[TOP_PROCEDURES] = {COLUMNS(procedure_columns)},
	[TOP_CODE] = {COLUMNS(code_columns)},
};

/* Omit the image column if all procedures are of one image. */
static size_t column_count(const struct top_view *view)
{
	bool one_image = view->shown == TOP_PROCEDURES && view->image != TOP_ALL_IMAGES;

	return levels[view->shown].count - one_image;
}

static const struct column *sort_column(const struct top_view *view)
{
	return &levels[view->shown].columns[view->sort[view->shown]];
}

static const void *nth_row(const void *context, size_t index)
{
	const struct top_view *view = context;

	if (view->shown == TOP_CODE)
		return &view->code.lines[view->order[index]];
	return &view->rows.list[view->order[index]];
}

const struct top_row *top_view_row(const struct top_view *view, size_t row)
{
	return &view->rows.list[view->order[row]];
}

int top_view_create(struct top_view *view, struct error *err)
{
	return top_counts_create(&view->counts, &view->config, err);
}

void top_view_deinit(struct top_view *view)
{
	top_counts_destroy(view->counts);
	top_code_deinit(&view->code);
	free(view->rows.list);
	free(view->order);
	free(view->path);
}

/* Return true if the pattern and the filter select a row. */
static bool is_wanted(const struct top_view *view, const struct top_row *row)
{
	if (view->pattern != NULL && !image_label_matches(row->file, view->pattern))
		return false;
	return view->filter[0] == '\0' || strcasestr(row->path, view->filter) != NULL ||
	       (row->procedure != NULL && strcasestr(row->procedure, view->filter) != NULL);
}

static bool is_line_wanted(const struct top_view *view, const struct top_line *line)
{
	return view->filter[0] == '\0' || strcasestr(line->text, view->filter) != NULL;
}

static int top_view_compare(const void *a, const void *b, void *context)
{
	const struct top_view *view = context;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const struct top_row *rows = view->rows.list;
	int r;

	if (view->shown == TOP_CODE) {
		r = columns_compare(sort_column(view), &view->code.lines[x], &view->code.lines[y]);
		return r != 0 ? r : (x > y) - (x < y);
	}
	r = columns_compare(sort_column(view), &rows[x], &rows[y]);
	if (r == 0 && rows[x].total != rows[y].total)
		r = rows[x].total > rows[y].total ? -1 : 1;
	if (r == 0)
		r = strcmp(rows[x].path, rows[y].path);
	if (r == 0 && rows[x].procedure != NULL)
		r = strcmp(rows[x].procedure, rows[y].procedure);
	return r != 0 ? r : (x > y) - (x < y);
}

static int arrange_rows(struct top_view *view)
{
	enum top_level level = view->shown == TOP_IMAGES ? TOP_BY_IMAGE : TOP_BY_PROCEDURE;
	int64_t image = view->shown == TOP_IMAGES ? TOP_ALL_IMAGES : view->image;

	return top_counts_rows(view->counts, level, image, view->event, view->of_epoch,
			       &view->rows);
}

int top_view_arrange(struct top_view *view)
{
	bool code = view->shown == TOP_CODE;
	size_t all, kept = 0;
	int r = arrange_rows(view);

	if (r < 0)
		return r;
	all = code ? view->code.count : view->rows.count;
	if (array_reserve(&view->order, &view->order_capacity, all + 1, sizeof(*view->order)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < all; i++) {
		if (code ? is_line_wanted(view, &view->code.lines[i])
			 : is_wanted(view, &view->rows.list[i]))
			view->order[kept++] = i;
	}
	/* Code is already in order of addresses. */
	if (kept > 0 && !(code && view->sort[TOP_CODE] == 0))
		qsort_r(view->order, kept, sizeof(*view->order), top_view_compare, view);
	view->table = (struct columns_table){
		.columns = levels[view->shown].columns,
		.column_count = column_count(view),
		.parts = make_aliases,
		.row = nth_row,
		.context = view,
		.row_count = kept,
	};
	return 0;
}

static int find_event(struct top_view *view, struct error *err)
{
	size_t count;
	const char *const *events = top_counts_events(view->counts, &count);

	view->event = 0;
	for (size_t i = 0; i < count && view->event_name != NULL; i++) {
		if (strcmp(events[i], view->event_name) == 0) {
			view->event = i;
			return 0;
		}
	}
	return view->event_name == NULL
		       ? 0
		       : near_names_unknown(err, "event", view->event_name, events, count);
}

/* Read the code; if it cannot be shown, @problem has the reason. */
static void read_code(struct top_view *view)
{
	view->problem.message[0] = '\0';
	if (top_code_read(&view->code, &view->config, top_counts_epoch(view->counts)->id,
			  view->image, view->address, &view->problem) < 0)
		top_code_deinit(&view->code);
}

int top_view_update(struct top_view *view, struct error *err)
{
	enum top_level level = view->shown == TOP_IMAGES ? TOP_BY_IMAGE : TOP_BY_PROCEDURE;
	int64_t epoch = top_counts_epoch(view->counts)->id;
	int r = top_counts_refresh(view->counts, level, view->image, err);

	/*
	 * Image numbers are stable, but addresses may change, because a new epoch may have other
	 * files.
	 */
	if (r == 0 && epoch != 0 && epoch != top_counts_epoch(view->counts)->id &&
	    view->shown == TOP_CODE)
		top_view_back(view);
	if (r == 0)
		r = find_event(view, err);
	if (r == 0 && view->shown == TOP_CODE)
		read_code(view);
	if (r == 0 && top_view_arrange(view) < 0)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return r;
}

int top_view_sort_by(struct top_view *view, const char *name, struct error *err)
{
	const struct level *level = &levels[view->shown];
	const struct column *column = columns_find(level->columns, level->count, name);

	if (column == NULL)
		return columns_unknown(level->columns, level->count, name, err);
	view->sort[view->shown] = (size_t)(column - level->columns);
	return 0;
}

void top_view_sort_next(struct top_view *view)
{
	size_t *sort = &view->sort[view->shown];

	do {
		*sort = (*sort + 1) % column_count(view);
	} while (sort_column(view)->flags & COLUMN_DETAIL);
}

void top_view_event_next(struct top_view *view)
{
	size_t count;
	const char *const *events = top_counts_events(view->counts, &count);

	if (count == 0)
		return;
	snprintf(view->event_chosen, sizeof(view->event_chosen), "%s",
		 events[(view->event + 1) % count]);
	view->event_name = view->event_chosen;
	view->event = (view->event + 1) % count;
}

int top_view_show(struct top_view *view, enum top_shown shown, const struct top_row *row)
{
	char *path = NULL;

	if (shown == TOP_CODE && (row == NULL || !row->has_address))
		return -ENOENT;
	if (row != NULL) {
		path = text_clean(row->path);
		if (path == NULL)
			return -ENOMEM;
	}
	if (shown == TOP_CODE)
		view->address = row->address;
	/* If the row was in a list of all images, top_view_back() returns to that list. */
	view->from_all = shown == TOP_CODE && view->image == TOP_ALL_IMAGES;
	view->image = row != NULL ? row->image : TOP_ALL_IMAGES;
	free(view->path);
	view->path = path;
	view->shown = shown;
	view->filter[0] = '\0';
	top_code_deinit(&view->code);
	return 0;
}

void top_view_back(struct top_view *view)
{
	if (view->shown == TOP_CODE) {
		view->shown = TOP_PROCEDURES;
		if (view->from_all)
			view->image = TOP_ALL_IMAGES;
	} else {
		view->shown = TOP_IMAGES;
		view->image = TOP_ALL_IMAGES;
	}
	view->filter[0] = '\0';
	top_code_deinit(&view->code);
}

double top_view_share(const struct top_view *view, size_t row)
{
	const struct top_row *place;

	if (view->shown == TOP_CODE)
		return view->code.lines[view->order[row]].share / 100;
	place = top_view_row(view, row);
	return (place->has_interval ? place->interval_share : place->total_share) / 100;
}

static void time_of_day(int64_t time_ns, char text[32])
{
	time_t seconds = (time_t)(time_ns / 1000000000);
	struct tm parts;

	text[0] = '\0';
	if (localtime_r(&seconds, &parts) != NULL)
		strftime(text, 32, "%H:%M:%S", &parts);
}

static void make_epoch_line(const struct top_view *view, char text[TOP_HEADING_BYTES])
{
	const struct profile_epoch *epoch = top_counts_epoch(view->counts);
	char time[32];

	time_of_day(epoch->end_ns, time);
	snprintf(text, TOP_HEADING_BYTES, "%s  epoch %" PRId64 " on %s, %s%s", time, epoch->id,
		 epoch->host != NULL ? epoch->host : "?",
		 epoch->source != NULL ? epoch->source : "?", epoch->open ? "" : ", ended");
}

static void make_samples_line(const struct top_view *view, char text[TOP_HEADING_BYTES])
{
	const struct top_rows *rows = &view->rows;
	uint64_t interrupts, lost = top_counts_lost(view->counts, &interrupts);
	size_t count, length;
	const char *const *events = top_counts_events(view->counts, &count);
	char time[32];

	time_of_day(rows->since_ns, time);
	length =
		(size_t)snprintf(text, TOP_HEADING_BYTES,
				 "%.60s: ", view->event < count ? events[view->event] : "no event");
	if (rows->interval_ns > 0)
		length += (size_t)snprintf(text + length, TOP_HEADING_BYTES - length,
					   "%.0f/s for %.1f s; ",
					   (double)rows->interval * 1e9 / (double)rows->interval_ns,
					   (double)rows->interval_ns / 1e9);
	length += (size_t)snprintf(text + length, TOP_HEADING_BYTES - length,
				   "%" PRIu64 " since %s%s; lost %.2f%%", rows->total, time,
				   view->of_epoch ? " (the epoch)" : "",
				   interrupts > 0 ? 100 * (double)lost / (double)interrupts : 0);
	if (rows->own_total > 0)
		length += (size_t)snprintf(text + length, TOP_HEADING_BYTES - length,
					   "; profiler %" PRIu64 " excluded", rows->own_total);
	if (rows->idle_total > 0)
		snprintf(text + length, TOP_HEADING_BYTES - length, "; idle %" PRIu64 " excluded",
			 rows->idle_total);
}

static void make_level_line(const struct top_view *view, char text[TOP_HEADING_BYTES])
{
	size_t length;

	if (view->shown == TOP_CODE && view->problem.message[0] != '\0')
		length = (size_t)snprintf(text, TOP_HEADING_BYTES, "no code: %.300s",
					  view->problem.message);
	else if (view->shown == TOP_CODE)
		length = (size_t)snprintf(text, TOP_HEADING_BYTES,
					  "%.120s in %.120s: %.0f samples, %s",
					  view->code.name != NULL ? view->code.name : "?",
					  view->path != NULL ? view->path : "?", view->code.samples,
					  view->code.model != NULL ? view->code.model : "?");
	else if (view->shown == TOP_PROCEDURES && view->path != NULL)
		length = (size_t)snprintf(text, TOP_HEADING_BYTES, "procedures of %.200s",
					  view->path);
	else
		length = (size_t)snprintf(text, TOP_HEADING_BYTES, "%s of the system",
					  view->shown == TOP_IMAGES ? "images" : "procedures");
	if (length < TOP_HEADING_BYTES)
		length += (size_t)snprintf(text + length, TOP_HEADING_BYTES - length, ", by %s",
					   sort_column(view)->heading);
	if (view->filter[0] != '\0' && length < TOP_HEADING_BYTES)
		snprintf(text + length, TOP_HEADING_BYTES - length, ", with '%s'", view->filter);
}

void top_view_heading(const struct top_view *view, unsigned int line, char text[TOP_HEADING_BYTES])
{
	static void (*const make[TOP_HEADING_LINES])(const struct top_view *, char *) = {
		make_epoch_line,
		make_samples_line,
		make_level_line,
	};
	_cleanup_free_ char *clean = NULL;

	make[line](view, text);
	/*
	 * Clean the text: an error may contain the name of a file, and truncation may split a
	 * character.
	 */
	clean = text_clean(text);
	snprintf(text, TOP_HEADING_BYTES, "%s", clean != NULL ? clean : "");
}
