/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables: one description of the columns determines headings, widths and alignment in text, and the
 * keys of JSON and CSV.
 */
#ifndef DCPI_COLUMNS_H
#define DCPI_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct error;
struct json_object;

enum column_type {
	COLUMN_TEXT,	    /* left-aligned */
	COLUMN_COUNT,	    /* an integer */
	COLUMN_PERCENT,	    /* text: one decimal and "%"; else four decimals */
	COLUMN_ADDRESS,	    /* 0x1a2b0 */
	COLUMN_OFFSET,	    /* 0x10 or -0x10: @count is signed */
	COLUMN_BOOLEAN,	    /* a count: 0 is "no" */
	COLUMN_NUMBER,	    /* COLUMN_DECIMALS in text; else nine significant digits */
	COLUMN_PROBABILITY, /* like COLUMN_NUMBER; in text 0.032 or 2e-14 */
	COLUMN_TIME,	    /* @count: ns since 1970; in text local time, else ISO 8601 in UTC */
};

/* Omitted in text: for programs only. */
#define COLUMN_DETAIL 1U
/* May be cut at its end to fit a terminal. */
#define COLUMN_CUT_END 2U
/* A name that may be shortened to fit a terminal (short_name.h). */
#define COLUMN_CUT_NAME 128U
/* May be cut at its beginning to fit a terminal (paths). */
#define COLUMN_CUT_START 4U
/* Omitted in text if the terminal would otherwise break lines. */
#define COLUMN_SPARE 8U
/* In text only. */
#define COLUMN_TEXT_ONLY 16U
/* In text, 0 is printed as blank. */
#define COLUMN_BLANK 64U
/* In JSON, a structured value: see struct columns_table. */
#define COLUMN_PARTS 32U
/* Digits after the decimal point of a COLUMN_NUMBER in text: 0 .. 15. */
#define COLUMN_DECIMALS(digits) ((unsigned int)(digits) << 8)

/**
 * struct column_value - value of a cell, in the member of the column's type
 * @note:    in text, printed after a COLUMN_TEXT; NULL: nothing
 * @missing: there is no value: printed as "-" in text, null in JSON, empty in CSV
 */
struct column_value {
	const char *text;
	const char *note;
	uint64_t count;
	union {
		double percent;
		double number;
	};
	bool missing;
};

/**
 * struct column - a column
 * @heading:  in text
 * @key:      in JSON and CSV
 * @type:     of the values
 * @flags:    COLUMN_*
 * @argument: for @get, which may serve several columns
 * @get:      returns the value of a row in @value, which is zero-initialised. A text need not be
 *            clean (see text_clean()) and must remain valid as long as the row
 */
struct column {
	const char *heading;
	const char *key;
	enum column_type type;
	unsigned int flags;
	size_t argument;
	void (*get)(const struct column *column, const void *row, struct column_value *value);
};

/**
 * struct columns_table - columns and rows
 * @row:   returns row @index, 0 .. @row_count - 1
 * @style: returns the escape sequence of a row, for text in colour; NULL: none
 * @below: returns clean text to be printed below a row in text; NULL: none
 * @parts: returns the value of a COLUMN_PARTS in JSON. Return: new; NULL if out of memory
 */
struct columns_table {
	const struct column *columns;
	size_t column_count;
	const void *(*row)(const void *context, size_t index);
	const void *context;
	size_t row_count;
	const char *(*style)(const void *row);
	const char *(*below)(const void *row);
	struct json_object *(*parts)(const struct column *column, const void *row);
};

/**
 * columns_text() - print a table as text
 * @width: width of the terminal; 0: no text is cut, and long texts extend beyond their column
 * @color: print headings in bold, and rows in their style
 *
 * Return: 0 or -ENOMEM.
 */
int columns_text(FILE *stream, const struct columns_table *table, size_t width, bool color);

/** columns_find() - find a column by its key or heading. Return: NULL if there is no such column */
const struct column *columns_find(const struct column *columns, size_t count, const char *name);

/**
 * columns_unknown() - describe a column to sort by that does not exist
 *
 * Return: -EINVAL. The message suggests near names.
 */
int columns_unknown(const struct column *columns, size_t count, const char *name,
		    struct error *err);

/**
 * columns_compare() - compare two rows by a column, for qsort(3)
 *
 * Numbers are in descending order, probabilities and text in ascending order; missing values come
 * last.
 */
int columns_compare(const struct column *column, const void *a, const void *b);

/** columns_csv() - print as in RFC 4180, keys first. Return: 0 or -ENOMEM */
int columns_csv(FILE *stream, const struct columns_table *table);

/** columns_json() - make an array with an object for each row. Return: NULL if out of memory */
struct json_object *columns_json(const struct columns_table *table);

#endif
