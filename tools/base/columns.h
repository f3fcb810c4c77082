/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables: one description of the columns drives headings, widths and alignment
 * of the text, and the keys of JSON and CSV.
 */
#ifndef DCPI_COLUMNS_H
#define DCPI_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_object;

enum column_type {
	COLUMN_TEXT,	    /* to the left */
	COLUMN_COUNT,	    /* a whole number */
	COLUMN_PERCENT,	    /* text: one decimal and "%"; else four decimals */
	COLUMN_ADDRESS,	    /* 0x1a2b0 */
	COLUMN_BOOLEAN,	    /* a count: 0 is "no" */
	COLUMN_NUMBER,	    /* with COLUMN_DECIMALS in text; else nine significant digits */
	COLUMN_PROBABILITY, /* likewise; in text 0.032 or 2e-14 */
	COLUMN_TIME,	    /* @count: ns since 1970; in text local, else ISO 8601 in UTC */
};

/* Leave out of text: for programs only. */
#define COLUMN_DETAIL 1U
/* May be cut at its end to fit a terminal. */
#define COLUMN_CUT_END 2U
/* Likewise, at its beginning (paths). */
#define COLUMN_CUT_START 4U
/* Not in text, rather than let lines be broken by a terminal. */
#define COLUMN_SPARE 8U
/* In text only. */
#define COLUMN_TEXT_ONLY 16U
/* In text nothing stands for 0. */
#define COLUMN_BLANK 64U
/* In JSON a value with parts: see struct columns_table. */
#define COLUMN_PARTS 32U
/* Digits behind the point, of a COLUMN_NUMBER in text: 0 .. 15. */
#define COLUMN_DECIMALS(digits) ((unsigned int)(digits) << 8)

/**
 * struct column_value - what a cell holds; the member of the column's type
 * @note:    in text, what follows a COLUMN_TEXT; NULL: nothing
 * @missing: there is no value: "-", null, nothing
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
 * @get:      gives the value of a row; @value is all zero before. Text need
 *            not be clean (see text_clean()) and must stay as long as the row
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
 * @row: gives row @index, 0 .. @row_count - 1
 * @style: gives the escape sequence of a row in text that may have colours; NULL: none
 * @below: gives what stands below a row in text, clean; NULL: nothing does
 * @parts: gives the value of a COLUMN_PARTS in JSON. Return: new; NULL if out of memory
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
 * columns_text() - print for people
 * @width: of the terminal; 0: don't cut anything, and let long texts stand out of their column
 * @color: headings in bold, and rows in their style
 *
 * Return: 0 or -ENOMEM.
 */
int columns_text(FILE *stream, const struct columns_table *table, size_t width, bool color);

/** columns_find() - a column by its key or heading. Return: NULL if there is none. */
const struct column *columns_find(const struct column *columns, size_t count, const char *name);

/**
 * columns_compare() - the order of rows by a column, for qsort(3)
 *
 * Numbers fall, probabilities and text rise; what is missing comes last.
 */
int columns_compare(const struct column *column, const void *a, const void *b);

/** columns_csv() - print as RFC 4180 has it, keys first. Return: 0 or -ENOMEM. */
int columns_csv(FILE *stream, const struct columns_table *table);

/** columns_json() - an array with an object a row. Return: NULL if out of memory. */
struct json_object *columns_json(const struct columns_table *table);

#endif
