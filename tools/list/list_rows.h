/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of source or instructions with their samples, as a report. */
#ifndef DCPI_LIST_ROWS_H
#define DCPI_LIST_ROWS_H

#include "tools/report/report.h"
#include "tools/tally/tally.h"

struct list_rows;

/** enum list_row_kind - what a row is. */
enum list_row_kind {
	LIST_ROW_LINE,	/* of source */
	LIST_ROW_INSN,	/* an instruction */
	LIST_ROW_OTHER, /* samples that are in neither */
	LIST_ROW_NOTE,	/* for people only: the name of a file, what was left out */
};

/**
 * struct list_row - a row
 * @text:    as it is printed; NULL: not to be had. Taken over
 * @file:    of source, of lines, and of instructions where it is known; else NULL
 * @line:    in it; 0: not known
 * @address: of instructions: ELF virtual address; @offset: in the image's file
 * @counts:  by event, of the caller's; NULL: no samples
 * @executions: of instructions, as dcpix counted them
 * @rows:    private
 */
struct list_row {
	enum list_row_kind kind;
	char *text;
	const char *file;
	unsigned int line;
	uint64_t address;
	uint64_t offset;
	const struct tally_count *counts;
	double executions;
	const struct list_rows *rows;
};

/**
 * struct list_rows - zero-initialised but for the configuration
 * @events: names, @event_count of them
 * @all:    by event: samples of all there is, which totals are
 * @code:   rows are instructions
 * @counted: their executions are known
 * @title:  "procedure" or "file", and @name: which; @image: NULL: of several, or nothing
 * @names:   of a procedure; NULL: of a file
 * @mark:   text after the name and the note in @names, or NULL
 * @note:   why this is not what was asked for, or NULL
 */
struct list_rows {
	const char *const *events;
	size_t event_count;
	const struct tally *all;
	bool code;
	bool counted;
	const char *title;
	const char *name;
	const struct procedure_names *names;
	const char *image;
	const char *identity;
	const char *mark;
	const char *note;

	/* private */
	struct list_row *rows;
	size_t count;
	size_t capacity;
	struct tally_count *sums; /* of all rows, by event */
	size_t *real;		  /* rows that are no notes */
	size_t real_count;
	struct column *columns;
	size_t column_count;
	char **keys;
};

/** list_rows_add() - add a row, whose text is taken over, also on failure. Return: 0 or -ENOMEM. */
int list_rows_add(struct list_rows *rows, const struct list_row *row);

/** list_rows_note() - add a note. Return: 0 or -ENOMEM. */
int list_rows_note(struct list_rows *rows, const char *text);

/** list_rows_finish() - add up, and make columns, when all are in. Return: 0 or -ENOMEM. */
int list_rows_finish(struct list_rows *rows);

/** list_rows_sampled() - whether any row has samples. */
bool list_rows_sampled(const struct list_rows *rows);

/** list_rows_report() - all of a report but its header; @notes: with those for people. */
struct report list_rows_report(const struct list_rows *rows, bool notes);

void list_rows_deinit(struct list_rows *rows);

#endif
