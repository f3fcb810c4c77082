// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpiprof - samples by procedure or by image (DCPI section 3.1, figure 1)
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "tools/cli.h"
#include "tools/columns.h"
#include "tools/report_header.h"
#include "tools/tally.h"
#include "tools/text.h"

static const struct cli_tool tool = {
	.name = "dcpiprof",
	.synopsis = "[OPTION]...",
	.summary = "Lists the samples of a profile database by procedure or by image.",
	.accepts = CLI_EVENTS | CLI_BY_IMAGE | CLI_IMAGES | CLI_PID | CLI_EPOCHS | CLI_LIMIT |
		   CLI_SORT | CLI_FORMATS | CLI_SYMBOLS,
};

/* struct prof - a listing; rows are printed as struct prof_row. */
struct prof_row {
	const struct tally_row *row;
	const struct prof *prof;
	uint64_t cumulative; /* of the first event, this row included */
};

struct prof {
	struct cli cli;
	struct profile_reader *reader;
	struct report_header header;
	const char **events; /* strings of the header's or the command line's */
	size_t event_count;
	struct tally *tally;
	struct prof_row *rows;
	size_t row_count;
	struct column *columns;
	size_t column_count;
	char **keys; /* of the columns, two for each event */
};

static double percent(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void get_count(const struct column *column, const void *row, struct column_value *value)
{
	const struct prof_row *line = row;

	value->count = line->row->counts[column->argument];
}

static void get_percent(const struct column *column, const void *row, struct column_value *value)
{
	const struct prof_row *line = row;

	value->percent = percent(line->row->counts[column->argument],
				 tally_total(line->prof->tally, column->argument));
}

static void get_cumulative(const struct column *column, const void *row, struct column_value *value)
{
	const struct prof_row *line = row;

	value->percent =
		percent(line->cumulative, tally_total(line->prof->tally, column->argument));
}

static void get_procedure(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct prof_row *)row)->row->procedure;
}

static void get_image(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct prof_row *)row)->row->image;
}

static void get_address(const struct column *column, const void *row, struct column_value *value)
{
	const struct prof_row *line = row;

	(void)column;
	value->count = line->row->address;
	value->missing = !line->row->has_address;
}

static void get_identity(const struct column *column, const void *row, struct column_value *value)
{
	const struct prof_row *line = row;

	(void)column;
	value->text = line->row->identity;
	value->missing = *line->row->identity == '\0';
}

static void add_column(struct prof *prof, struct column column)
{
	prof->columns[prof->column_count++] = column;
}

static int add_event_columns(struct prof *prof, size_t event)
{
	const char *name = prof->events[event];
	char **keys = &prof->keys[2 * event];

	if (asprintf(&keys[0], "%s_percent", name) < 0 ||
	    asprintf(&keys[1], "%s_cumulative_percent", name) < 0)
		return -ENOMEM;
	add_column(prof, (struct column){name, name, COLUMN_COUNT, 0, event, get_count});
	add_column(prof, (struct column){"%", keys[0], COLUMN_PERCENT, 0, event, get_percent});
	if (event == 0)
		add_column(prof, (struct column){"cum%", keys[1], COLUMN_PERCENT, 0, event,
						 get_cumulative});
	return 0;
}

static int make_columns(struct prof *prof)
{
	bool by_image = prof->cli.by_image;

	prof->columns = calloc(2 * prof->event_count + 5, sizeof(*prof->columns));
	prof->keys = calloc(2 * prof->event_count, sizeof(*prof->keys));
	if (prof->columns == NULL || prof->keys == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < prof->event_count; i++) {
		if (add_event_columns(prof, i) < 0)
			return -ENOMEM;
	}
	if (!by_image)
		add_column(prof, (struct column){"procedure", "procedure", COLUMN_TEXT,
						 COLUMN_CUT_END, 0, get_procedure});
	add_column(prof,
		   (struct column){"image", "image", COLUMN_TEXT, COLUMN_CUT_START, 0, get_image});
	if (!by_image)
		add_column(prof, (struct column){"address", "address", COLUMN_ADDRESS,
						 COLUMN_DETAIL, 0, get_address});
	add_column(prof, (struct column){"identity", "identity", COLUMN_TEXT, COLUMN_DETAIL, 0,
					 get_identity});
	return 0;
}

/* What rows are sorted by: an event's number, or one of these. */
#define SORT_PROCEDURE (-1)
#define SORT_IMAGE (-2)

static int find_sort(const struct prof *prof, long *ret, struct error *err)
{
	const char *sort = prof->cli.sort;

	*ret = 0;
	if (sort == NULL)
		return 0;
	for (size_t i = 0; i < prof->event_count; i++, ++*ret) {
		if (strcmp(sort, prof->events[i]) == 0)
			return 0;
	}
	*ret = strcmp(sort, "image") == 0 ? SORT_IMAGE : SORT_PROCEDURE;
	if (strcmp(sort, "image") == 0 || (strcmp(sort, "procedure") == 0 && !prof->cli.by_image))
		return 0;
	return error_set(err, EINVAL, "cannot sort by \"%s\": no such column", sort);
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
	return (a->counts[event] < b->counts[event]) - (a->counts[event] > b->counts[event]);
}

/* By the key, then by all events from the first, then by what makes a row unique. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const struct tally_row *x = a, *y = b;
	const struct sort_order *order = context;
	int r = 0;

	if (order->key == SORT_PROCEDURE)
		r = compare_text(x->procedure, y->procedure);
	else if (order->key == SORT_IMAGE)
		r = strcmp(x->image, y->image);
	else
		r = compare_count(x, y, (size_t)order->key);
	for (size_t i = 0; r == 0 && i < order->events; i++)
		r = compare_count(x, y, i);
	if (r == 0)
		r = strcmp(x->image, y->image);
	if (r == 0)
		r = compare_text(x->procedure, y->procedure);
	return r != 0 ? r : (x->address > y->address) - (x->address < y->address);
}

static int make_rows(struct prof *prof, struct error *err)
{
	struct sort_order order = {.events = prof->event_count};
	struct tally_row *rows = tally_rows(prof->tally);
	size_t count = tally_row_count(prof->tally);
	uint64_t cumulative = 0;
	int r = find_sort(prof, &order.key, err);

	if (r < 0)
		return r;
	if (count > 0)
		qsort_r(rows, count, sizeof(*rows), compare_rows, &order);
	prof->row_count = prof->cli.limit > 0 && prof->cli.limit < count ? prof->cli.limit : count;
	prof->rows = calloc(prof->row_count + 1, sizeof(*prof->rows));
	if (prof->rows == NULL || make_columns(prof) < 0)
		return error_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < prof->row_count; i++) {
		cumulative += rows[i].counts[0];
		prof->rows[i] = (struct prof_row){&rows[i], prof, cumulative};
	}
	return 0;
}

static bool has_event(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): there are @count */
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

/* "cycles, imiss" for an error message. */
static int unknown_event(const struct prof *prof, const char *name, struct error *err)
{
	char list[256] = "";
	size_t length = 0;

	for (size_t i = 0; i < prof->event_count && length < sizeof(list); i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
					   i > 0 ? ", " : "", prof->events[i]);
	return error_set(err, EINVAL, "there is no event \"%s\"; there are: %s", name, list);
}

/* All events there are; then, if some are asked for, those instead. */
static int choose_events(struct prof *prof, struct error *err)
{
	struct cli *cli = &prof->cli;
	size_t kept = 0;

	prof->events =
		calloc(prof->header.event_count + cli->event_count + 1, sizeof(*prof->events));
	if (prof->events == NULL)
		return error_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < prof->header.event_count; i++) {
		const char *name = prof->header.events[i].name;

		if (!has_event(prof->events, prof->event_count, name))
			prof->events[prof->event_count++] = name;
	}
	for (size_t i = 0; i < cli->event_count; i++) {
		if (!has_event(prof->events, prof->event_count, cli->events[i]))
			return unknown_event(prof, cli->events[i], err);
	}
	for (size_t i = 0; i < cli->event_count; i++) {
		const char *name = cli->events[i];

		if (!has_event(prof->events, kept, name))
			prof->events[kept++] = name;
	}
	if (kept > 0)
		prof->event_count = kept;
	return 0;
}

static const void *get_row(const void *context, size_t index)
{
	return &((const struct prof *)context)->rows[index];
}

static int print_text(const struct prof *prof, const struct columns_table *table)
{
	fputs("Total samples for event type", stdout);
	for (size_t i = 0; i < prof->event_count; i++)
		printf("%s %s = %" PRIu64, i > 0 ? "," : "", prof->events[i],
		       tally_total(prof->tally, i));
	fputs("\n\n", stdout);
	report_header_print(stdout, &prof->header);
	fputc('\n', stdout);
	return columns_text(stdout, table, prof->cli.width, prof->cli.color);
}

static int fill_json(const struct prof *prof, const struct columns_table *table,
		     struct json_object *report)
{
	struct json_object *totals = json_object_new_object(), *rows;

	if (totals == NULL || json_object_object_add(report, "totals", totals) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < prof->event_count; i++) {
		if (json_object_object_add(totals, prof->events[i],
					   json_object_new_uint64(tally_total(prof->tally, i))) < 0)
			return -ENOMEM;
	}
	if (report_header_json(report, &prof->header) < 0)
		return -ENOMEM;
	rows = columns_json(table);
	if (rows == NULL)
		return -ENOMEM;
	return json_object_object_add(report, "rows", rows);
}

static int print_json(const struct prof *prof, const struct columns_table *table)
{
	struct json_object *report = json_object_new_object();
	const char *text = NULL;

	if (report != NULL && fill_json(prof, table, report) == 0)
		text = json_object_to_json_string_ext(
			report, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
					JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text != NULL)
		puts(text);
	json_object_put(report);
	return text != NULL ? 0 : -ENOMEM;
}

static int print(const struct prof *prof, struct error *err)
{
	struct columns_table table = {
		.columns = prof->columns,
		.column_count = prof->column_count,
		.row = get_row,
		.context = prof,
		.row_count = prof->row_count,
	};
	int r = 0;

	switch (prof->cli.format) {
	case CLI_TEXT:
		r = print_text(prof, &table);
		break;
	case CLI_JSON:
		r = print_json(prof, &table);
		break;
	case CLI_CSV:
		r = columns_csv(stdout, &table);
		break;
	}
	return r < 0 ? error_set(err, ENOMEM, "out of memory") : cli_finish_output(err);
}

static int load(struct prof *prof, struct error *err)
{
	struct tally_config config = {
		.image = prof->cli.image,
		.by_image = prof->cli.by_image,
		.demangle = prof->cli.demangle,
		.debug = {prof->cli.debug_directory, prof->cli.debuginfod},
	};
	int r = profile_reader_open(&prof->reader, prof->cli.database, err);

	if (r == 0)
		r = profile_reader_snapshot(prof->reader, err);
	if (r == 0)
		r = cli_select_epochs(&prof->cli, prof->reader, err);
	if (r == 0)
		r = report_header_load(&prof->header, prof->reader, &prof->cli.filter, err);
	if (r < 0 || prof->header.epoch_count == 0)
		return r;
	r = choose_events(prof, err);
	if (r < 0)
		return r;
	config.events = prof->events;
	config.event_count = prof->event_count;
	config.filter = prof->cli.filter;
	r = tally_create(&prof->tally, prof->reader, &config, err);
	if (r < 0)
		return r;
	prof->header.samples = tally_samples(prof->tally, &prof->header.unknown);
	return make_rows(prof, err);
}

static int run(struct prof *prof)
{
	struct error err = {0};
	int r = load(prof, &err);

	if (r == -ENOENT && prof->reader != NULL)
		return cli_nothing(&prof->cli, "%s", err.message);
	if (r < 0)
		return cli_fail(&prof->cli, &err);
	if (prof->header.epoch_count == 0)
		return cli_nothing(&prof->cli, "no epoch matches");
	if (prof->row_count == 0 && prof->cli.filter.has_pid)
		return cli_nothing(&prof->cli,
				   "no samples are kept for process %" PRId64
				   " (samples are kept by process only where asked for)",
				   prof->cli.filter.pid);
	if (prof->row_count == 0 && prof->cli.image != NULL)
		return cli_nothing(&prof->cli, "no samples in images that match \"%s\"",
				   prof->cli.image);
	if (prof->row_count == 0)
		return cli_nothing(&prof->cli, "no samples");
	return print(prof, &err) < 0 ? cli_fail(&prof->cli, &err) : CLI_OK;
}

int main(int argc, char **argv)
{
	struct prof prof = {0};
	int status = cli_parse(&prof.cli, &tool, argc, argv, NULL);

	if (status == CLI_RUN)
		status = run(&prof);
	for (size_t i = 0; prof.keys != NULL && i < 2 * prof.event_count; i++)
		free(prof.keys[i]);
	free(prof.keys);
	free(prof.columns);
	free(prof.rows);
	free(prof.events);
	tally_destroy(prof.tally);
	report_header_deinit(&prof.header);
	profile_reader_close(prof.reader);
	cli_deinit(&prof.cli);
	return status;
}
