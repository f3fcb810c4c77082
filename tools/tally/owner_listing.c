// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/owner_listing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define OWNER_COLUMNS 4

struct owner_line {
	const struct owner_row *row;
	const struct owner_listing *listing;
	size_t index; /* in the tally */
};

/* @shared: by event: number of samples to which shares refer */
struct owner_listing {
	enum owner_by by;
	uint64_t *shared;
	struct report_total *totals;
	size_t event_count;
	struct owner_line *lines;
	size_t line_count;
	struct column *columns;
	size_t column_count;
	char **keys;
};

CLEANUP_DEFINE(owner_listing, struct owner_listing *, owner_listing_destroy)

static void owner_listing_get_count(const struct column *column, const void *row,
				    struct column_value *value)
{
	const struct owner_line *line = row;

	value->count = tally_count_scaled(&line->row->counts[column->argument]);
}

static void owner_listing_get_percent(const struct column *column, const void *row,
				      struct column_value *value)
{
	const struct owner_line *line = row;
	uint64_t total = line->listing->shared[column->argument];
	uint64_t count = tally_count_scaled(&line->row->counts[column->argument]);

	value->percent = total > 0 ? 100.0 * (double)count / (double)total : 0;
}

/* In the main column of a report, samples without an owner have a separate row, "(none)". */
static void text(struct column_value *value, const char *name, bool main)
{
	value->text = name[0] == '\0' && main ? "(none)" : name;
	value->missing = name[0] == '\0' && !main;
}

static void get_unit(const struct column *column, const void *row, struct column_value *value)
{
	const struct owner_line *line = row;

	(void)column;
	text(value, line->row->unit, line->listing->by == OWNER_BY_UNIT);
}

static void get_container(const struct column *column, const void *row, struct column_value *value)
{
	const struct owner_line *line = row;

	(void)column;
	text(value, line->row->container, line->listing->by == OWNER_BY_CONTAINER);
}

static void get_pid(const struct column *column, const void *row, struct column_value *value)
{
	const struct owner_line *line = row;

	(void)column;
	value->count = (uint64_t)line->row->pid;
	value->missing = line->row->pid < 0;
}

static void get_command(const struct column *column, const void *row, struct column_value *value)
{
	const struct owner_line *line = row;

	(void)column;
	value->text = line->row->pid < 0 ? "(not stored by process)" : line->row->command;
}

static void get_host(const struct column *column, const void *row, struct column_value *value)
{
	const struct owner_line *line = row;

	(void)column;
	text(value, line->row->host, line->listing->by == OWNER_BY_HOST);
}

static void get_label(const struct column *column, const void *row, struct column_value *value)
{
	const struct owner_line *line = row;

	(void)column;
	text(value, line->row->label, false);
}

static void get_epoch(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->count = (uint64_t)((const struct owner_line *)row)->row->epoch;
}

static void get_start(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->count = (uint64_t)((const struct owner_line *)row)->row->start_ns;
}

static void owner_listing_add_column(struct owner_listing *listing, struct column column)
{
	listing->columns[listing->column_count++] = column;
}

static int add_event_columns(struct owner_listing *listing, size_t event)
{
	const char *name = listing->totals[event].name;

	if (asprintf(&listing->keys[event], "%s_percent", name) < 0) {
		listing->keys[event] = NULL;
		return -ENOMEM;
	}
	owner_listing_add_column(listing, (struct column){name, name, COLUMN_COUNT, 0, event,
							  owner_listing_get_count});
	owner_listing_add_column(listing, (struct column){"%", listing->keys[event], COLUMN_PERCENT,
							  event > 0 ? COLUMN_SPARE : 0, event,
							  owner_listing_get_percent});
	return 0;
}

static void add_epoch_columns(struct owner_listing *listing)
{
	static const struct column epoch = {"epoch", "epoch", COLUMN_COUNT, 0, 0, get_epoch};
	static const struct column start = {"began", "start", COLUMN_TIME, 0, 0, get_start};
	static const struct column host = {"host",	   "host", COLUMN_TEXT,
					   COLUMN_CUT_END, 0,	   get_host};
	static const struct column label = {"label",	    "label", COLUMN_TEXT,
					    COLUMN_CUT_END, 0,	     get_label};

	if (listing->by == OWNER_BY_EPOCH) {
		owner_listing_add_column(listing, epoch);
		owner_listing_add_column(listing, start);
	}
	owner_listing_add_column(listing, host);
	if (listing->by == OWNER_BY_EPOCH)
		owner_listing_add_column(listing, label);
}

static void add_owner_columns(struct owner_listing *listing)
{
	static const struct column pid = {"pid", "pid", COLUMN_COUNT, 0, 0, get_pid};
	static const struct column command = {"command",      "command", COLUMN_TEXT,
					      COLUMN_CUT_END, 0,	 get_command};
	static const struct column unit = {"unit",	    "unit", COLUMN_TEXT,
					   COLUMN_CUT_NAME, 0,	    get_unit};
	static const struct column container = {"container",	"container", COLUMN_TEXT,
						COLUMN_CUT_END, 0,	     get_container};

	if (listing->by == OWNER_BY_HOST || listing->by == OWNER_BY_EPOCH) {
		add_epoch_columns(listing);
		return;
	}
	if (listing->by == OWNER_BY_PROCESS)
		owner_listing_add_column(listing, pid);
	if (listing->by == OWNER_BY_PROCESS || listing->by == OWNER_BY_COMMAND)
		owner_listing_add_column(listing, command);
	if (listing->by == OWNER_BY_COMMAND)
		return;
	if (listing->by != OWNER_BY_CONTAINER)
		owner_listing_add_column(listing, unit);
	if (listing->by != OWNER_BY_UNIT)
		owner_listing_add_column(listing, container);
}

static int owner_listing_fill(struct owner_listing *listing, const struct owner_tally *tally,
			      const struct owner_tally_config *config)
{
	listing->totals = calloc(config->event_count + 1, sizeof(*listing->totals));
	listing->lines = calloc(listing->line_count + 1, sizeof(*listing->lines));
	listing->columns =
		calloc(2 * config->event_count + OWNER_COLUMNS, sizeof(*listing->columns));
	listing->keys = calloc(config->event_count + 1, sizeof(*listing->keys));
	listing->shared = calloc(config->event_count + 1, sizeof(*listing->shared));
	if (listing->totals == NULL || listing->shared == NULL || listing->lines == NULL ||
	    listing->columns == NULL || listing->keys == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < listing->line_count; i++)
		listing->lines[i] = (struct owner_line){owner_tally_row(tally, i), listing, i};
	for (size_t i = 0; i < config->event_count; i++) {
		listing->totals[i] = (struct report_total){
			.name = config->events[i],
			.count = tally_count_scaled(owner_tally_total(tally, i)),
			.excluded =
				tally_count_scaled(owner_tally_excluded(tally, PROFILER_WHOLE, i)),
			.idle = tally_count_scaled(owner_tally_excluded(tally, PROFILER_IDLE, i)),
		};
		listing->shared[i] = listing->totals[i].count - listing->totals[i].excluded -
				     listing->totals[i].idle;
		listing->event_count++;
		if (add_event_columns(listing, i) < 0)
			return -ENOMEM;
	}
	add_owner_columns(listing);
	return 0;
}

static int compare_lines(const void *a, const void *b, void *column)
{
	const struct owner_line *x = a, *y = b;
	int r = columns_compare(column, a, b);

	/* Equal rows keep the order of the tally. */
	return r != 0 ? r : (x->index > y->index) - (x->index < y->index);
}

static int sort_lines(struct owner_listing *listing, const char *sort, struct error *err)
{
	const struct column *column;

	if (sort == NULL)
		return 0;
	column = columns_find(listing->columns, listing->column_count, sort);
	if (column == NULL)
		return columns_unknown(listing->columns, listing->column_count, sort, err);
	if (listing->line_count > 0)
		qsort_r(listing->lines, listing->line_count, sizeof(*listing->lines), compare_lines,
			(void *)(uintptr_t)column);
	return 0;
}

int owner_listing_create(struct owner_listing **ret, const struct owner_tally *tally,
			 const struct owner_tally_config *config, const char *sort, size_t limit,
			 struct error *err)
{
	_cleanup_(cleanup_owner_listing) struct owner_listing *listing =
		calloc(1, sizeof(*listing));
	int r;

	if (listing == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	listing->by = config->by;
	listing->line_count = owner_tally_row_count(tally);
	if (owner_listing_fill(listing, tally, config) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = sort_lines(listing, sort, err);
	if (r < 0)
		return r;
	if (limit > 0 && limit < listing->line_count)
		listing->line_count = limit;
	*ret = take_ptr(listing);
	return 0;
}

void owner_listing_destroy(struct owner_listing *listing)
{
	if (listing == NULL)
		return;
	for (size_t i = 0; i < listing->event_count; i++)
		free(listing->keys[i]);
	free(listing->keys);
	free(listing->columns);
	free(listing->lines);
	free(listing->totals);
	free(listing->shared);
	free(listing);
}

static const void *owner_listing_get_line(const void *context, size_t index)
{
	return &((const struct owner_listing *)context)->lines[index];
}

struct report owner_listing_report(const struct owner_listing *listing)
{
	return (struct report){
		.totals_of = "samples for event type",
		.totals = listing->totals,
		.total_count = listing->event_count,
		.table =
			{
				.columns = listing->columns,
				.column_count = listing->column_count,
				.row = owner_listing_get_line,
				.context = listing,
				.row_count = listing->line_count,
			},
	};
}
