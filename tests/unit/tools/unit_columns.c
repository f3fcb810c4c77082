// SPDX-License-Identifier: GPL-2.0-only
#include <json-c/json.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/lib/unit.h"
#include "tools/base/columns.h"
#include "tools/base/text.h"

struct line {
	uint64_t count;
	double percent;
	const char *name;
	const char *path;
};

static const struct line lines[] = {
	{12345, 99.96, "main", "/usr/bin/program"},
	{0, 0, "a,b \"c\"", "/a/rather/long/path/that/does/not/fit"},
	{18446744073709551615ULL, 0.04, "caf\xc3\xa9\x1b[2J\xff", NULL},
};

static void get(const struct column *column, const void *row, struct column_value *value)
{
	const struct line *line = row;

	value->count = line->count;
	value->percent = line->percent;
	value->text = column->argument ? line->path : line->name;
	value->missing = value->text == NULL;
}

static const void *get_row(const void *context, size_t index)
{
	return (const struct line *)context + index;
}

static const struct column columns[] = {
	{"count", "samples", COLUMN_COUNT, 0, 0, get},
	{"%", "percent", COLUMN_PERCENT, 0, 0, get},
	{"name", "name", COLUMN_TEXT, COLUMN_CUT_END, 0, get},
	{"path", "path", COLUMN_TEXT, COLUMN_CUT_START, 1, get},
	{"hidden", "address", COLUMN_ADDRESS, COLUMN_DETAIL, 0, get},
};

static const struct columns_table table = {
	.columns = columns, .column_count = 5, .row = get_row, .context = lines, .row_count = 3};

static char *print(int (*printer)(FILE *stream, size_t width), size_t width)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	assert_non_null(stream);
	assert_int_equal(printer(stream, width), 0);
	fclose(stream);
	return text;
}

static int as_text(FILE *stream, size_t width)
{
	return columns_text(stream, &table, width, false);
}

static int as_csv(FILE *stream, size_t width)
{
	(void)width;
	return columns_csv(stream, &table);
}

static void test_text_is_aligned(void **state)
{
	char *text = print(as_text, 0);

	(void)state;
	assert_string_equal(text, "               count       %  name       path\n"
				  "               12345  100.0%  main       /usr/bin/program\n"
				  "                   0    0.0%  a,b \"c\"    "
				  "/a/rather/long/path/that/does/not/fit\n"
				  "18446744073709551615    0.0%  caf\xc3\xa9?[2J?  -\n");
	free(text);
}

/* For every width, lines fit unless uncuttable columns are too wide; numbers stay whole. */
static void test_text_fits_a_terminal(void **state)
{
	(void)state;
	for (size_t width = 1; width < 120; width++) {
		char *text = print(as_text, width), *rest = text, *line;

		assert_non_null(strstr(text, "18446744073709551615"));
		assert_non_null(strstr(text, "caf\xc3\xa9?[2J?"));
		while ((line = strsep(&rest, "\n")) != NULL) {
			/* 20 + 2 + 6 + 2 + 9 + 2 + 12: the minimal width */
			if (text_width(line) > (width > 53 ? width : 53))
				fail_msg("%zu columns: %s", width, line);
		}
		free(text);
	}
}

static void test_csv_follows_rfc(void **state)
{
	char *text = print(as_csv, 0);

	(void)state;
	assert_string_equal(
		text, "samples,percent,name,path,address\r\n"
		      "12345,99.9600,main,/usr/bin/program,0x3039\r\n"
		      "0,0.0000,\"a,b \"\"c\"\"\",/a/rather/long/path/that/does/not/fit,0x0\r\n"
		      "18446744073709551615,0.0400,caf\xc3\xa9?[2J?,,0xffffffffffffffff\r\n");
	free(text);
}

static void test_json_round_trip(void **state)
{
	struct json_object *rows = columns_json(&table), *again, *row, *value;

	(void)state;
	assert_non_null(rows);
	again = json_tokener_parse(json_object_to_json_string(rows));
	assert_non_null(again);
	assert_int_equal(json_object_array_length(again), 3);
	for (size_t i = 0; i < 3; i++) {
		row = json_object_array_get_idx(again, i);
		assert_true(json_object_object_get_ex(row, "samples", &value));
		assert_true(json_object_get_uint64(value) == lines[i].count);
		assert_true(json_object_object_get_ex(row, "percent", &value));
		assert_true(json_object_get_double(value) - lines[i].percent < 1e-4 &&
			    lines[i].percent - json_object_get_double(value) < 1e-4);
		assert_true(json_object_object_get_ex(row, "path", &value));
		if (lines[i].path == NULL)
			assert_null(value);
		else
			assert_string_equal(json_object_get_string(value), lines[i].path);
	}
	json_object_put(again);
	json_object_put(rows);
}

static void test_no_rows(void **state)
{
	struct columns_table empty = table;
	struct json_object *rows;

	(void)state;
	empty.row_count = 0;
	rows = columns_json(&empty);
	assert_int_equal(json_object_array_length(rows), 0);
	json_object_put(rows);
}

/* Random bytes become valid UTF-8 without control characters, of the same length. */
static void test_text_without_control_characters(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		char dirty[40], *clean, *again;
		size_t bytes = unit_random(&seed) % sizeof(dirty);

		for (size_t i = 0; i < bytes; i++)
			dirty[i] = (char)(1 + unit_random(&seed) % 255);
		dirty[bytes > 0 ? bytes - 1 : 0] = '\0';
		clean = text_clean(dirty);
		assert_non_null(clean);
		assert_int_equal(strlen(clean), strlen(dirty));
		for (const char *p = clean; *p != '\0'; p++)
			assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
		assert_true(mbstowcs(NULL, clean, 0) != (size_t)-1);
		assert_int_equal(mbstowcs(NULL, clean, 0), text_width(clean));
		again = text_clean(clean);
		assert_string_equal(clean, again);
		free(again);
		free(clean);
	}
}

static void get_number(const struct column *column, const void *row, struct column_value *value)
{
	static const double numbers[] = {1234.5678, 3e-14, -0.25};
	const struct line *line = row;

	value->number = numbers[line - lines];
	if (column->type == COLUMN_TEXT)
		value->text = value->number > 1 ? "*" : "";
	value->count = value->number > 0;
	value->missing = column->type == COLUMN_PROBABILITY && value->number < 0;
}

static const struct column numbers[] = {
	{"value", "value", COLUMN_NUMBER, COLUMN_DECIMALS(2), 0, get_number},
	{"p", "p", COLUMN_PROBABILITY, 0, 0, get_number},
	{"*", "mark", COLUMN_TEXT, COLUMN_TEXT_ONLY, 0, get_number},
	{"name", "name", COLUMN_TEXT, COLUMN_SPARE, 0, get},
	{"+", "positive", COLUMN_BOOLEAN, COLUMN_DETAIL, 0, get_number},
};

static const struct columns_table number_table = {
	.columns = numbers, .column_count = 5, .row = get_row, .context = lines, .row_count = 3};

static void test_numbers_have_their_digits(void **state)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	(void)state;
	assert_int_equal(columns_csv(stream, &number_table), 0);
	/* The third column does not fit and is omitted. */
	assert_int_equal(columns_text(stream, &number_table, 22, false), 0);
	fclose(stream);
	assert_string_equal(text, "value,p,name,positive\r\n"
				  "1234.5678,1234.5678,main,yes\r\n"
				  "3e-14,3e-14,\"a,b \"\"c\"\"\",yes\r\n"
				  "-0.25,,caf\xc3\xa9?[2J?,no\r\n"
				  "  value         p  *\n"
				  "1234.57  1234.568  *\n"
				  "   0.00     3e-14  \n"
				  "  -0.25         -  \n");
	free(text);
}

static void get_extra(const struct column *column, const void *row, struct column_value *value)
{
	const struct line *line = row;

	(void)column;
	value->count = line == &lines[0] ? 1700000000123456789 : 0;
	value->text = "not in JSON";
}

static struct json_object *get_parts(const struct column *column, const void *row)
{
	struct json_object *list = json_object_new_array();

	assert_string_equal(column->key, "parts");
	json_object_array_add(list, json_object_new_string(((const struct line *)row)->name));
	return list;
}

static const char *get_below(const void *row)
{
	return row == &lines[0] ? "some words that   stand below the row they are of" : "none";
}

static const char *get_style(const void *row)
{
	return row == &lines[1] ? "\033[31m" : NULL;
}

static const struct column extras[] = {
	{"time", "time", COLUMN_TIME, 0, 0, get_extra},
	{"zero", "zero", COLUMN_COUNT, COLUMN_BLANK, 0, get_extra},
	{"parts", "parts", COLUMN_TEXT, COLUMN_PARTS | COLUMN_DETAIL, 0, get_extra},
};

static const struct columns_table extra_table = {
	.columns = extras,
	.column_count = 3,
	.row = get_row,
	.context = lines,
	.row_count = 2,
	.below = get_below,
	.style = get_style,
	.parts = get_parts,
};

static void test_extra_members_of_rows(void **state)
{
	struct json_object *json = columns_json(&extra_table);
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	assert_int_equal(columns_text(stream, &extra_table, 24, true), 0);
	fclose(stream);
	assert_string_equal(text, "\033[1m               time\033[0m\n"
				  "2023-11-14 22:13:20\n"
				  "        some words that\n"
				  "        stand below the\n"
				  "        row they are of\n"
				  "\033[31m1970-01-01 00:00:00\033[0m\n"
				  "        none\n");
	free(text);
	assert_string_equal(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN),
			    "[{\"time\":\"2023-11-14T22:13:20Z\",\"zero\":1700000000123456789,"
			    "\"parts\":[\"main\"]},{\"time\":\"1970-01-01T00:00:00Z\",\"zero\":0,"
			    "\"parts\":[\"a,b \\\"c\\\"\"]}]");
	json_object_put(json);
}

static void test_rows_have_an_order(void **state)
{
	(void)state;
	assert_ptr_equal(columns_find(numbers, 4, "p"), &numbers[1]);
	assert_ptr_equal(columns_find(columns, 5, "samples"), &columns[0]);
	assert_ptr_equal(columns_find(columns, 5, "count"), &columns[0]);
	assert_null(columns_find(columns, 5, "color"));
	/*
	 * Numbers and counts sort in descending order, probabilities and text ascending, missing
	 * values last.
	 */
	assert_true(columns_compare(&numbers[0], &lines[0], &lines[1]) < 0);
	assert_true(columns_compare(&numbers[1], &lines[0], &lines[1]) > 0);
	assert_true(columns_compare(&numbers[1], &lines[2], &lines[1]) > 0);
	assert_true(columns_compare(&columns[0], &lines[2], &lines[0]) < 0);
	assert_true(columns_compare(&columns[2], &lines[1], &lines[0]) < 0);
	assert_true(columns_compare(&columns[3], &lines[2], &lines[0]) > 0);
	assert_true(columns_compare(&columns[4], &lines[2], &lines[0]) > 0);
	assert_int_equal(columns_compare(&columns[2], &lines[1], &lines[1]), 0);
}

static int use_utf8(void **state)
{
	(void)state;
	return setlocale(LC_CTYPE, "C.UTF-8") != NULL ? 0 : -1;
}

static void get_signed(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->count = (uint64_t) * (const int64_t *)row;
}

static const int64_t offsets[] = {-0x16, 0x16};

static const void *get_offset_row(const void *context, size_t index)
{
	return &((const int64_t *)context)[index];
}

static const struct column offset_column = {"offset", "offset", COLUMN_OFFSET, 0, 0, get_signed};

static int offsets_csv(FILE *stream, size_t width)
{
	const struct columns_table signed_table = {.columns = &offset_column,
						   .column_count = 1,
						   .row = get_offset_row,
						   .context = offsets,
						   .row_count = 2};

	(void)width;
	return columns_csv(stream, &signed_table);
}

/* Offsets before the beginning of a procedure are negative, and sort before the others. */
static void test_signed_offsets(void **state)
{
	char *text = print(offsets_csv, 0);

	(void)state;
	assert_string_equal(text, "offset\r\n-0x16\r\n0x16\r\n");
	free(text);
	assert_true(columns_compare(&offset_column, &offsets[0], &offsets[1]) < 0);
	assert_true(columns_compare(&offset_column, &offsets[1], &offsets[0]) > 0);
	assert_int_equal(columns_compare(&offset_column, &offsets[1], &offsets[1]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_is_aligned),
		cmocka_unit_test(test_text_fits_a_terminal),
		cmocka_unit_test(test_csv_follows_rfc),
		cmocka_unit_test(test_json_round_trip),
		cmocka_unit_test(test_no_rows),
		cmocka_unit_test(test_numbers_have_their_digits),
		cmocka_unit_test(test_rows_have_an_order),
		cmocka_unit_test(test_extra_members_of_rows),
		cmocka_unit_test(test_text_without_control_characters),
		cmocka_unit_test(test_signed_offsets),
	};

	return cmocka_run_group_tests(tests, use_utf8, NULL);
}
