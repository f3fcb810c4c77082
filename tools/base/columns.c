// SPDX-License-Identifier: GPL-2.0-only
#include "tools/base/columns.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "tools/base/heat.h"
#include "tools/base/json_tree.h"
#include "tools/base/short_name.h"
#include "tools/base/text.h"
#include "tools/base/time_spec.h"

#define WIDTH_MIN 12
/*
 * If no text is cut, texts wider than this do not widen their column: otherwise one C++ name would
 * widen every row.
 */
#define ALIGNED_MAX 80
#define BELOW_WIDTH 80
#define BELOW_INDENT 8

static void get_value(const struct columns_table *table, size_t column, size_t row,
		      struct column_value *value)
{
	const struct column *c = &table->columns[column];

	*value = (struct column_value){0};
	c->get(c, table->row(table->context, row), value);
}

static char *format_probability(double p, bool for_people)
{
	char *cell = NULL;
	int r;

	if (for_people && p < 1e-99)
		return strdup("<1e-99");
	r = asprintf(&cell, !for_people ? "%.9g" : p < 0.001 ? "%.0e" : "%.3f", p);
	return r < 0 ? NULL : cell;
}

static char *format_time(int64_t time_ns, bool for_people)
{
	char text[TIME_SPEC_BYTES];

	if (for_people)
		time_spec_local(text, time_ns);
	else
		time_spec_utc(text, time_ns);
	return strdup(text);
}

static bool is_zero(const struct column *column, const struct column_value *value)
{
	if (column->type == COLUMN_PERCENT || column->type == COLUMN_NUMBER)
		return value->number == 0;
	return column->type != COLUMN_TEXT && value->count == 0;
}

static char *format_text(const struct column_value *value, bool for_people)
{
	_cleanup_free_ char *both = NULL;

	if (!for_people || value->note == NULL || *value->note == '\0')
		return text_clean(value->text);
	if (asprintf(&both, "%s%s", value->text, value->note) < 0)
		return NULL;
	return text_clean(both);
}

/* Format a cell as text. Return: malloc'd; NULL if out of memory. */
static char *format_cell(const struct column *column, const struct column_value *value,
			 bool for_people)
{
	char *cell = NULL;
	int r = -1;

	if (value->missing)
		return strdup(for_people && !(column->flags & COLUMN_BLANK) ? "-" : "");
	if (for_people && (column->flags & COLUMN_BLANK) && is_zero(column, value))
		return strdup("");
	switch (column->type) {
	case COLUMN_TEXT:
		return format_text(value, for_people);
	case COLUMN_COUNT:
		r = asprintf(&cell, "%" PRIu64, value->count);
		break;
	case COLUMN_PERCENT:
		r = asprintf(&cell, for_people ? "%.1f%%" : "%.4f", value->percent);
		break;
	case COLUMN_ADDRESS:
		r = asprintf(&cell, "0x%" PRIx64, value->count);
		break;
	case COLUMN_OFFSET:
		r = asprintf(&cell, "%s0x%" PRIx64, (int64_t)value->count < 0 ? "-" : "",
			     (int64_t)value->count < 0 ? -value->count : value->count);
		break;
	case COLUMN_BOOLEAN:
		return strdup(value->count != 0 ? "yes" : "no");
	case COLUMN_NUMBER:
		if (for_people)
			r = asprintf(&cell, "%.*f", (int)(column->flags >> 8 & 15), value->number);
		else
			r = asprintf(&cell, "%.9g", value->number);
		break;
	case COLUMN_PROBABILITY:
		return format_probability(value->number, for_people);
	case COLUMN_TIME:
		return format_time((int64_t)value->count, for_people);
	}
	return r < 0 ? NULL : cell;
}

/* All cells of a table, in rows of column_count; row 0 has the headings. */
struct grid {
	char **cells;
	size_t *natural; /* width by column, of the widest cell */
	size_t *widths;
	bool *shown; /* by column */
	size_t rows;
	size_t columns;
	bool cut;
};

static void grid_deinit(struct grid *grid)
{
	for (size_t i = 0; grid->cells != NULL && i < grid->rows * grid->columns; i++)
		free(grid->cells[i]);
	free(grid->cells);
	free(grid->natural);
	free(grid->widths);
	free(grid->shown);
}

static bool may_be_cut(const struct column *column)
{
	return (column->flags & (COLUMN_CUT_END | COLUMN_CUT_START | COLUMN_CUT_NAME)) != 0;
}

static int grid_fill_row(struct grid *grid, const struct columns_table *table, size_t row)
{
	char **cells = &grid->cells[row * grid->columns];

	for (size_t column = 0; column < grid->columns; column++) {
		struct column_value value;
		size_t width;

		if (row == 0) {
			cells[column] = text_clean(table->columns[column].heading);
		} else {
			get_value(table, column, row - 1, &value);
			cells[column] = format_cell(&table->columns[column], &value, true);
		}
		if (cells[column] == NULL)
			return -ENOMEM;
		width = text_width(cells[column]);
		if (!grid->cut && width > ALIGNED_MAX && may_be_cut(&table->columns[column]))
			continue;
		if (width > grid->natural[column])
			grid->natural[column] = grid->widths[column] = width;
	}
	return 0;
}

static int grid_fill(struct grid *grid, const struct columns_table *table)
{
	grid->rows = table->row_count + 1;
	grid->columns = table->column_count;
	grid->cells = calloc(grid->rows * grid->columns, sizeof(*grid->cells));
	grid->natural = calloc(grid->columns, sizeof(*grid->natural));
	grid->widths = calloc(grid->columns, sizeof(*grid->widths));
	grid->shown = calloc(grid->columns + 1, sizeof(*grid->shown));
	if (grid->cells == NULL || grid->natural == NULL || grid->widths == NULL ||
	    grid->shown == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < grid->columns; i++)
		grid->shown[i] = !(table->columns[i].flags & COLUMN_DETAIL);
	for (size_t row = 0; row < grid->rows; row++) {
		int r = grid_fill_row(grid, table, row);

		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Narrow the widest of the columns that may be cut, until the table fits or no column can be
 * narrowed.
 *
 * Return: true if it fits.
 */
static bool fit(struct grid *grid, const struct column *columns, size_t width)
{
	memcpy(grid->widths, grid->natural, grid->columns * sizeof(*grid->widths));
	for (;;) {
		size_t total = 0, widest = SIZE_MAX, second = WIDTH_MIN, excess, cut;

		for (size_t i = 0; i < grid->columns; i++) {
			if (!grid->shown[i])
				continue;
			total += grid->widths[i] + (total > 0 ? 2 : 0);
			if (!may_be_cut(&columns[i]))
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
			return total <= width;
		excess = total - width;
		/*
		 * Down to the width of the next widest column; equally wide columns shrink
		 * alternately.
		 */
		cut = grid->widths[widest] > second ? grid->widths[widest] - second : 1;
		grid->widths[widest] -= cut < excess ? cut : excess;
	}
}

/*
 * Narrow columns; if that is not enough, omit those with COLUMN_SPARE, then all except the first
 * one and the first that can be narrowed.
 */
static void make_fit(struct grid *grid, const struct column *columns, size_t width)
{
	size_t name = 0;

	while (name < grid->columns && !(grid->shown[name] && may_be_cut(&columns[name])))
		name++;
	for (size_t i = grid->columns; !fit(grid, columns, width) && i-- > 0;) {
		if (columns[i].flags & COLUMN_SPARE)
			grid->shown[i] = false;
	}
	for (size_t i = grid->columns; !fit(grid, columns, width) && i-- > 1;) {
		if (i != name)
			grid->shown[i] = false;
	}
}

/* Return: malloc'd; NULL if out of memory. */
static char *cut_cell(const struct column *column, const char *cell, size_t width)
{
	size_t length = text_width(cell);
	char *cut = NULL;
	int r;

	if (column->flags & COLUMN_CUT_NAME)
		return short_name(cell, width);
	if (column->flags & COLUMN_CUT_START)
		r = asprintf(&cut, "...%s", text_skip(cell, length - (width - 3)));
	else
		r = asprintf(&cut, "%.*s...", (int)(text_skip(cell, width - 3) - cell), cell);
	return r < 0 ? NULL : cut;
}

/* Cut the cells that are wider than their column. Return: 0 or -ENOMEM. */
static int cut_cells(struct grid *grid, const struct column *columns)
{
	for (size_t i = 0; i < grid->rows * grid->columns; i++) {
		size_t column = i % grid->columns;
		char *cut;

		if (!grid->shown[column] || !may_be_cut(&columns[column]) ||
		    text_width(grid->cells[i]) <= grid->widths[column])
			continue;
		cut = cut_cell(&columns[column], grid->cells[i], grid->widths[column]);
		if (cut == NULL)
			return -ENOMEM;
		free(grid->cells[i]);
		grid->cells[i] = cut;
	}
	return 0;
}

static void print_cell(FILE *stream, const struct column *column, const char *cell, size_t width,
		       bool last)
{
	size_t length = text_width(cell);
	int padding = length < width ? (int)(width - length) : 0;

	if (column->type != COLUMN_TEXT)
		fprintf(stream, "%*s%s", padding, "", cell);
	else
		fprintf(stream, "%s%*s", cell, last ? 0 : padding, "");
}

static void print_line(FILE *stream, const struct columns_table *table, const struct grid *grid,
		       size_t row, size_t last)
{
	const char *gap = "";

	for (size_t i = 0; i <= last; i++) {
		if (!grid->shown[i])
			continue;
		fputs(gap, stream);
		print_cell(stream, &table->columns[i], grid->cells[row * grid->columns + i],
			   grid->widths[i], i == last);
		gap = "  ";
	}
}

/* Row 0 has the headings. Return: an escape sequence, or "". */
static const char *style_of(const struct columns_table *table, size_t row, bool color)
{
	const char *style = NULL;

	if (color && row == 0)
		style = HEAT_STYLE_HEADING;
	else if (color && table->style != NULL)
		style = table->style(table->row(table->context, row - 1));
	return style != NULL ? style : "";
}

static void print_below(FILE *stream, const char *text, size_t width)
{
	fprintf(stream, "%*s", BELOW_INDENT, "");
	text_wrap(stream, text, width, BELOW_INDENT, BELOW_INDENT);
}

int columns_text(FILE *stream, const struct columns_table *table, size_t width, bool color)
{
	struct grid grid = {.cut = width > 0};
	size_t last = 0;
	int r = grid_fill(&grid, table);

	if (r == 0 && width > 0) {
		make_fit(&grid, table->columns, width);
		r = cut_cells(&grid, table->columns);
	}
	for (size_t i = 0; r == 0 && i < table->column_count; i++) {
		if (grid.shown[i])
			last = i;
	}
	for (size_t row = 0; r == 0 && row < grid.rows; row++) {
		const char *style = style_of(table, row, color);

		fputs(style, stream);
		print_line(stream, table, &grid, row, last);
		fputs(*style != '\0' ? HEAT_STYLE_NONE "\n" : "\n", stream);
		if (row > 0 && table->below != NULL)
			print_below(stream, table->below(table->row(table->context, row - 1)),
				    width > 0 ? width : BELOW_WIDTH);
	}
	grid_deinit(&grid);
	return r;
}

const struct column *columns_find(const struct column *columns, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(columns[i].key, name) == 0 || strcmp(columns[i].heading, name) == 0)
			return &columns[i];
	}
	return NULL;
}

static int compare_numbers(double a, double b)
{
	return (a > b) - (a < b);
}

int columns_unknown(const struct column *columns, size_t count, const char *name, struct error *err)
{
	_cleanup_(near_names_deinit) struct near_names near = {.wanted = name};
	char text[256];

	for (size_t i = 0; i < count; i++)
		near_names_add(&near, columns[i].key);
	near_names_text(&near, text, sizeof(text));
	return error_set(err, EINVAL, ERROR_NO_COLUMN "%s", name, text);
}

int columns_compare(const struct column *column, const void *a, const void *b)
{
	struct column_value x = {0}, y = {0};

	column->get(column, a, &x);
	column->get(column, b, &y);
	if (x.missing || y.missing)
		return x.missing - y.missing;
	switch (column->type) {
	case COLUMN_TEXT:
		return strcmp(x.text, y.text);
	case COLUMN_COUNT:
	case COLUMN_BOOLEAN:
		return (x.count < y.count) - (x.count > y.count);
	case COLUMN_ADDRESS:
	case COLUMN_TIME:
		return (x.count > y.count) - (x.count < y.count);
	case COLUMN_OFFSET:
		return ((int64_t)x.count > (int64_t)y.count) -
		       ((int64_t)x.count < (int64_t)y.count);
	case COLUMN_PROBABILITY:
		return compare_numbers(x.number, y.number);
	case COLUMN_PERCENT:
	case COLUMN_NUMBER:
		break;
	}
	return compare_numbers(y.number, x.number);
}

int columns_csv(FILE *stream, const struct columns_table *table)
{
	bool first = true;

	for (size_t i = 0; i < table->column_count; i++) {
		if (table->columns[i].flags & COLUMN_TEXT_ONLY)
			continue;
		text_csv(stream, table->columns[i].key, first);
		first = false;
	}
	fputs("\r\n", stream);
	for (size_t row = 0; row < table->row_count; row++) {
		first = true;
		for (size_t i = 0; i < table->column_count; i++) {
			struct column_value value;
			_cleanup_free_ char *cell = NULL;

			if (table->columns[i].flags & COLUMN_TEXT_ONLY)
				continue;
			get_value(table, i, row, &value);
			cell = format_cell(&table->columns[i], &value, false);
			if (cell == NULL)
				return -ENOMEM;
			text_csv(stream, cell, first);
			first = false;
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
		else if (column->type == COLUMN_BOOLEAN)
			json = json_object_new_boolean(value->count != 0);
		else if (column->type == COLUMN_PERCENT || column->type == COLUMN_NUMBER ||
			 column->type == COLUMN_PROBABILITY)
			json = json_object_new_double_s(value->number, cell);
		else
			json = json_object_new_string(cell);
		if (json == NULL)
			return -ENOMEM;
	}
	return json_object_object_add(object, column->key, json) < 0 ? -ENOMEM : 0;
}

static int json_parts(struct json_object *object, const struct columns_table *table, size_t column,
		      size_t row)
{
	const struct column *c = &table->columns[column];

	return json_tree_add(object, c->key, table->parts(c, table->row(table->context, row)));
}

struct json_object *columns_json(const struct columns_table *table)
{
	struct json_object *rows = json_object_new_array();

	for (size_t row = 0; rows != NULL && row < table->row_count; row++) {
		struct json_object *object = json_object_new_object();
		int r = object != NULL ? json_object_array_add(rows, object) : -ENOMEM;

		for (size_t i = 0; r == 0 && i < table->column_count; i++) {
			struct column_value value;

			if (table->columns[i].flags & COLUMN_TEXT_ONLY)
				continue;
			if (table->columns[i].flags & COLUMN_PARTS) {
				r = json_parts(object, table, i, row);
				continue;
			}
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
