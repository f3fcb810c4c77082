// SPDX-License-Identifier: GPL-2.0-only
#include "tools/columns.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "tools/text.h"

#define WIDTH_MIN 12

static void get_value(const struct columns_table *table, size_t column, size_t row,
		      struct column_value *value)
{
	const struct column *c = &table->columns[column];

	*value = (struct column_value){0};
	c->get(c, table->row(table->context, row), value);
}

/* A cell as text: malloc'd. */
static char *format_cell(const struct column *column, const struct column_value *value,
			 bool for_people)
{
	char *cell = NULL;
	int r = -1;

	if (value->missing)
		return strdup(for_people ? "-" : "");
	switch (column->type) {
	case COLUMN_TEXT:
		return text_clean(value->text);
	case COLUMN_COUNT:
		r = asprintf(&cell, "%" PRIu64, value->count);
		break;
	case COLUMN_PERCENT:
		r = asprintf(&cell, for_people ? "%.1f%%" : "%.4f", value->percent);
		break;
	case COLUMN_ADDRESS:
		r = asprintf(&cell, "0x%" PRIx64, value->count);
		break;
	}
	return r < 0 ? NULL : cell;
}

/* All cells of a table; rows of column_count, the headings first. */
struct grid {
	char **cells;
	size_t *widths;
	size_t rows;
	size_t columns;
};

static void grid_deinit(struct grid *grid)
{
	for (size_t i = 0; grid->cells != NULL && i < grid->rows * grid->columns; i++)
		free(grid->cells[i]);
	free(grid->cells);
	free(grid->widths);
}

static int grid_fill(struct grid *grid, const struct columns_table *table)
{
	grid->rows = table->row_count + 1;
	grid->columns = table->column_count;
	grid->cells = calloc(grid->rows * grid->columns, sizeof(*grid->cells));
	grid->widths = calloc(grid->columns, sizeof(*grid->widths));
	if (grid->cells == NULL || grid->widths == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < grid->rows * grid->columns; i++) {
		size_t column = i % grid->columns, row = i / grid->columns, width;
		struct column_value value;

		if (row == 0) {
			grid->cells[i] = text_clean(table->columns[column].heading);
		} else {
			get_value(table, column, row - 1, &value);
			grid->cells[i] = format_cell(&table->columns[column], &value, true);
		}
		if (grid->cells[i] == NULL)
			return -ENOMEM;
		width = text_width(grid->cells[i]);
		if (width > grid->widths[column])
			grid->widths[column] = width;
	}
	return 0;
}

/* Takes from the widest column that may be cut, until all fits or nothing is left to take. */
static void fit(struct grid *grid, const struct column *columns, size_t width)
{
	for (;;) {
		size_t total = 0, widest = SIZE_MAX, second = WIDTH_MIN, excess, cut;

		for (size_t i = 0; i < grid->columns; i++) {
			if (columns[i].flags & COLUMN_DETAIL)
				continue;
			total += grid->widths[i] + (total > 0 ? 2 : 0);
			if (!(columns[i].flags & (COLUMN_CUT_END | COLUMN_CUT_START)))
				continue;
			if (widest == SIZE_MAX || grid->widths[i] > grid->widths[widest]) {
				if (widest != SIZE_MAX && grid->widths[widest] > second)
					second = grid->widths[widest];
				widest = i;
			} else if (grid->widths[i] > second) {
				second = grid->widths[i];
			}
		}
		if (total <= width || widest == SIZE_MAX || grid->widths[widest] <= WIDTH_MIN)
			return;
		excess = total - width;
		/* Down to the next widest, then both by turns. */
		cut = grid->widths[widest] > second ? grid->widths[widest] - second : 1;
		grid->widths[widest] -= cut < excess ? cut : excess;
	}
}

static void print_cell(FILE *stream, const struct column *column, const char *cell, size_t width,
		       bool last)
{
	size_t length = text_width(cell);
	int padding = length < width ? (int)(width - length) : 0;

	if (length > width && (column->flags & COLUMN_CUT_START))
		fprintf(stream, "...%s", text_skip(cell, length - (width - 3)));
	else if (length > width)
		fprintf(stream, "%.*s...", (int)(text_skip(cell, width - 3) - cell), cell);
	else if (column->type != COLUMN_TEXT)
		fprintf(stream, "%*s%s", padding, "", cell);
	else
		fprintf(stream, "%s%*s", cell, last ? 0 : padding, "");
}

static void print_line(FILE *stream, const struct columns_table *table, const struct grid *grid,
		       size_t row, size_t last)
{
	const char *gap = "";

	for (size_t i = 0; i <= last; i++) {
		if (table->columns[i].flags & COLUMN_DETAIL)
			continue;
		fputs(gap, stream);
		print_cell(stream, &table->columns[i], grid->cells[row * grid->columns + i],
			   grid->widths[i], i == last);
		gap = "  ";
	}
}

int columns_text(FILE *stream, const struct columns_table *table, size_t width, bool bold)
{
	struct grid grid = {0};
	size_t last = 0;
	int r = grid_fill(&grid, table);

	for (size_t i = 0; i < table->column_count; i++) {
		if (!(table->columns[i].flags & COLUMN_DETAIL))
			last = i;
	}
	if (r == 0 && width > 0)
		fit(&grid, table->columns, width);
	for (size_t row = 0; r == 0 && row < grid.rows; row++) {
		bool heading = bold && row == 0;

		fputs(heading ? "\033[1m" : "", stream);
		print_line(stream, table, &grid, row, last);
		fputs(heading ? "\033[0m\n" : "\n", stream);
	}
	grid_deinit(&grid);
	return r;
}

static void print_csv_cell(FILE *stream, const char *cell, bool first)
{
	if (!first)
		fputc(',', stream);
	if (strpbrk(cell, ",\"\r\n") == NULL) {
		fputs(cell, stream);
		return;
	}
	fputc('"', stream);
	for (; *cell != '\0'; cell++) {
		if (*cell == '"')
			fputc('"', stream);
		fputc(*cell, stream);
	}
	fputc('"', stream);
}

int columns_csv(FILE *stream, const struct columns_table *table)
{
	for (size_t i = 0; i < table->column_count; i++)
		print_csv_cell(stream, table->columns[i].key, i == 0);
	fputs("\r\n", stream);
	for (size_t row = 0; row < table->row_count; row++) {
		for (size_t i = 0; i < table->column_count; i++) {
			struct column_value value;
			_cleanup_free_ char *cell = NULL;

			get_value(table, i, row, &value);
			cell = format_cell(&table->columns[i], &value, false);
			if (cell == NULL)
				return -ENOMEM;
			print_csv_cell(stream, cell, i == 0);
		}
		fputs("\r\n", stream);
	}
	return 0;
}

static int json_cell(struct json_object *object, const struct column *column,
		     const struct column_value *value)
{
	_cleanup_free_ char *cell = format_cell(column, value, false);
	struct json_object *json = NULL;

	if (cell == NULL)
		return -ENOMEM;
	if (!value->missing) {
		if (column->type == COLUMN_COUNT)
			json = json_object_new_uint64(value->count);
		else if (column->type == COLUMN_PERCENT)
			json = json_object_new_double_s(value->percent, cell);
		else
			json = json_object_new_string(cell);
		if (json == NULL)
			return -ENOMEM;
	}
	return json_object_object_add(object, column->key, json) < 0 ? -ENOMEM : 0;
}

struct json_object *columns_json(const struct columns_table *table)
{
	struct json_object *rows = json_object_new_array();

	for (size_t row = 0; rows != NULL && row < table->row_count; row++) {
		struct json_object *object = json_object_new_object();
		int r = object != NULL ? json_object_array_add(rows, object) : -ENOMEM;

		for (size_t i = 0; r == 0 && i < table->column_count; i++) {
			struct column_value value;

			get_value(table, i, row, &value);
			r = json_cell(object, &table->columns[i], &value);
		}
		if (r < 0) {
			json_object_put(rows);
			return NULL;
		}
	}
	return rows;
}
