// SPDX-License-Identifier: GPL-2.0-only
#include "tools/list/list_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "tools/base/heat.h"
#include "tools/base/json_tree.h"
#include "tools/base/text.h"
#include "tools/annotate/calc_heading.h"

#define PLACE_COLUMNS 8

int list_rows_add(struct list_rows *rows, const struct list_row *row)
{
	if (array_reserve(&rows->rows, &rows->capacity, rows->count + 1, sizeof(*row)) < 0) {
		free(row->text);
		return -ENOMEM;
	}
	rows->rows[rows->count] = *row;
	rows->rows[rows->count++].rows = rows;
	return 0;
}

int list_rows_note(struct list_rows *rows, const char *text)
{
	struct list_row row = {.kind = LIST_ROW_NOTE, .text = strdup(text)};

	return row.text != NULL ? list_rows_add(rows, &row) : -ENOMEM;
}

static const void *get_any(const void *context, size_t index)
{
	return &((const struct list_rows *)context)->rows[index];
}

static const void *get_real(const void *context, size_t index)
{
	const struct list_rows *rows = context;

	return &rows->rows[rows->real[index]];
}

static double list_rows_share(const struct list_row *line, size_t event)
{
	uint64_t sum = tally_count_scaled(&line->rows->sums[event]);

	if (line->counts == NULL || sum == 0)
		return 0;
	return (double)tally_count_scaled(&line->counts[event]) / (double)sum;
}

static const char *get_style(const void *row)
{
	const struct list_row *line = row;

	if (line->kind == LIST_ROW_NOTE)
		return HEAT_STYLE_SOURCE;
	return heat_style(list_rows_share(line, 0));
}

static void list_rows_get_count(const struct column *column, const void *row,
				struct column_value *value)
{
	const struct list_row *line = row;

	if (line->counts != NULL)
		value->count = tally_count_scaled(&line->counts[column->argument]);
}

static void list_rows_get_percent(const struct column *column, const void *row,
				  struct column_value *value)
{
	value->percent = 100 * list_rows_share(row, column->argument);
}

static void list_rows_get_line(const struct column *column, const void *row,
			       struct column_value *value)
{
	(void)column;
	value->count = ((const struct list_row *)row)->line;
	value->missing = value->count == 0;
}

static void get_file(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct list_row *)row)->file;
	value->missing = value->text == NULL;
}

static void get_text(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct list_row *)row)->text;
	value->missing = value->text == NULL;
}

/* Only instructions have an address. */
static void list_rows_get_address(const struct column *column, const void *row,
				  struct column_value *value)
{
	const struct list_row *line = row;

	value->count = column->argument == 0 ? line->address : line->offset;
	value->missing = line->kind != LIST_ROW_INSN;
}

static void get_executions(const struct column *column, const void *row, struct column_value *value)
{
	const struct list_row *line = row;

	(void)column;
	value->count = (uint64_t)line->executions;
	value->missing = line->kind != LIST_ROW_INSN;
}

static void list_rows_add_column(struct list_rows *rows, struct column column)
{
	rows->columns[rows->column_count++] = column;
}

static int add_event_columns(struct list_rows *rows, size_t event)
{
	const char *name = rows->events[event];

	if (asprintf(&rows->keys[event], "%s_percent", name) < 0) {
		rows->keys[event] = NULL;
		return -ENOMEM;
	}
	list_rows_add_column(rows, (struct column){name, name, COLUMN_COUNT, COLUMN_BLANK, event,
						   list_rows_get_count});
	list_rows_add_column(rows, (struct column){"%", rows->keys[event], COLUMN_PERCENT,
						   COLUMN_BLANK, event, list_rows_get_percent});
	return 0;
}

static void add_place_columns(struct list_rows *rows)
{
	unsigned int detail = rows->code ? COLUMN_DETAIL : 0;

	if (rows->counted)
		list_rows_add_column(rows, (struct column){"executed", "executions", COLUMN_COUNT,
							   COLUMN_BLANK, 0, get_executions});
	if (rows->code) {
		list_rows_add_column(rows, (struct column){"address", "address", COLUMN_ADDRESS,
							   COLUMN_BLANK, 0, list_rows_get_address});
		list_rows_add_column(rows,
				     (struct column){"file offset", "file_offset", COLUMN_ADDRESS,
						     COLUMN_DETAIL, 1, list_rows_get_address});
		list_rows_add_column(rows,
				     (struct column){"instruction", "text", COLUMN_TEXT,
						     COLUMN_CUT_END | COLUMN_BLANK, 0, get_text});
	}
	list_rows_add_column(
		rows, (struct column){"file", "source", COLUMN_TEXT, COLUMN_DETAIL, 0, get_file});
	list_rows_add_column(rows, (struct column){"line", "line", COLUMN_COUNT,
						   COLUMN_BLANK | detail, 0, list_rows_get_line});
	if (!rows->code)
		list_rows_add_column(rows,
				     (struct column){"source", "text", COLUMN_TEXT,
						     COLUMN_CUT_END | COLUMN_BLANK, 0, get_text});
}

static int make_columns(struct list_rows *rows)
{
	rows->columns = calloc(2 * rows->event_count + PLACE_COLUMNS, sizeof(*rows->columns));
	rows->keys = calloc(rows->event_count + 1, sizeof(*rows->keys));
	if (rows->columns == NULL || rows->keys == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < rows->event_count; i++) {
		if (add_event_columns(rows, i) < 0)
			return -ENOMEM;
	}
	add_place_columns(rows);
	return 0;
}

int list_rows_finish(struct list_rows *rows)
{
	rows->sums = calloc(rows->event_count + 1, sizeof(*rows->sums));
	rows->real = calloc(rows->count + 1, sizeof(*rows->real));
	if (rows->sums == NULL || rows->real == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++) {
		const struct list_row *row = &rows->rows[i];

		if (row->kind != LIST_ROW_NOTE)
			rows->real[rows->real_count++] = i;
		for (size_t event = 0; row->counts != NULL && event < rows->event_count; event++) {
			rows->sums[event].samples += row->counts[event].samples;
			rows->sums[event].extra += row->counts[event].extra;
		}
	}
	return make_columns(rows);
}

static double list_rows_percent(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

static void print_totals(FILE *stream, const void *context)
{
	const struct list_rows *rows = context;

	fputs("Total samples for event type", stream);
	for (size_t i = 0; i < rows->event_count; i++)
		fprintf(stream, "%s %s = %" PRIu64, i > 0 ? "," : "", rows->events[i],
			tally_count_scaled(tally_total(rows->all, i)));
	fputs("\n\n", stream);
}

static void print_title(FILE *stream, const void *context)
{
	const struct list_rows *rows = context;
	_cleanup_free_ char *image = rows->image != NULL ? text_clean(rows->image) : NULL;

	fprintf(stream, "%-12s%s%s%s\n", rows->title, rows->name,
		rows->names != NULL ? rows->names->note : "", rows->mark != NULL ? rows->mark : "");
	if (rows->names != NULL)
		calc_heading_aliases(stream, rows->names);
	if (image != NULL)
		fprintf(stream, "%-12s%s\n", "image", image);
	fprintf(stream, "%-12s", "samples");
	for (size_t i = 0; i < rows->event_count; i++) {
		uint64_t sum = tally_count_scaled(&rows->sums[i]);

		fprintf(stream, "%s%s %" PRIu64, i > 0 ? "; " : "", rows->events[i], sum);
		if (!rows->no_share)
			fprintf(stream, ", %.1f%% of all",
				list_rows_percent(sum, tally_shared(rows->all, i)));
	}
	fputc('\n', stream);
	if (rows->note != NULL)
		fprintf(stream, "%-12s%s\n", "assembly", rows->note);
	fputc('\n', stream);
}

static int counts_json(struct json_object *object, const struct list_rows *rows, const char *key,
		       bool all)
{
	struct json_object *counts = json_object_new_object();

	if (json_tree_add(object, key, counts) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < rows->event_count; i++) {
		const struct tally_count *count = all ? tally_total(rows->all, i) : &rows->sums[i];

		if (json_tree_add(counts, rows->events[i],
				  json_object_new_uint64(tally_count_scaled(count))) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int title_json(struct json_object *object, const void *context)
{
	const struct list_rows *rows = context;
	_cleanup_free_ char *image = text_clean(rows->image != NULL ? rows->image : "");

	if (counts_json(object, rows, "totals", true) < 0 ||
	    counts_json(object, rows, "listed", false) < 0 ||
	    json_tree_add(object, rows->title, json_object_new_string(rows->name)) < 0)
		return -ENOMEM;
	if (rows->names != NULL &&
	    json_tree_add(object, "aliases",
			  json_tree_texts(rows->names->aliases, rows->names->alias_count)) < 0)
		return -ENOMEM;
	if (rows->image == NULL)
		return 0;
	if (image == NULL || json_tree_add(object, "image", json_object_new_string(image)) < 0)
		return -ENOMEM;
	return json_tree_add(object, "build_id", json_object_new_string(rows->identity));
}

struct report list_rows_report(const struct list_rows *rows, bool notes)
{
	return (struct report){
		.preface = {print_totals, title_json, rows},
		.caption = print_title,
		.table =
			{
				.columns = rows->columns,
				.column_count = rows->column_count,
				.row = notes ? get_any : get_real,
				.context = rows,
				.row_count = notes ? rows->count : rows->real_count,
				.style = get_style,
			},
	};
}

void list_rows_deinit(struct list_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->rows[i].text);
	for (size_t i = 0; rows->keys != NULL && i < rows->event_count; i++)
		free(rows->keys[i]);
	free(rows->rows);
	free(rows->sums);
	free(rows->real);
	free(rows->columns);
	free(rows->keys);
	*rows = (struct list_rows){0};
}
