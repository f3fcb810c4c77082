/* SPDX-License-Identifier: GPL-2.0-only */
/* A report of source lines or instructions with their samples. */
#ifndef DCPI_LIST_ROWS_H
#define DCPI_LIST_ROWS_H

#include "tools/report/report.h"
#include "tools/tally/tally.h"

struct list_rows;

/** enum list_row_kind - kind of a row */
enum list_row_kind {
	LIST_ROW_LINE,	/* a source line */
	LIST_ROW_INSN,	/* an instruction */
	LIST_ROW_OTHER, /* samples in no line or instruction */
	LIST_ROW_NOTE,	/* in text only: the name of a file, or a mark for omitted lines */
};

/**
 * struct list_row - a row
 * @text:       printed text; NULL: not available. The rows take ownership
 * @file:       source file of a line, or of an instruction if known; else NULL
 * @line:       line in @file; 0: not known
 * @address:    of instructions: ELF virtual address; @offset: in the image's file
 * @counts:     by event, owned by the caller; NULL: no samples
 * @executions: of instructions, as dcpix counted them
 * @rows:       private
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
 * struct list_rows - zero-initialised except for the configuration
 * @events:  names, @event_count of them
 * @all:     its totals are all samples, by event
 * @no_share: the listed procedure or file is the profiler's
 * @code:    rows are instructions
 * @counted: their executions are known
 * @title:   "procedure" or "file"; @name: its name; @image: NULL: of several images, or none
 * @names:   of a procedure; NULL: of a file
 * @mark:    text after the name and the note in @names, or NULL
 * @note:    reason why the listing is not of the requested kind, or NULL
 */
struct list_rows {
	const char *const *events;
	size_t event_count;
	const struct tally *all;
	bool no_share;
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
	size_t *real;		  /* rows that are not notes */
	size_t real_count;
	struct column *columns;
	size_t column_count;
	char **keys;
};

/**
 * list_rows_add() - add a row; takes ownership of its text, also on failure
 *
 * Return: 0 or -ENOMEM.
 */
int list_rows_add(struct list_rows *rows, const struct list_row *row);

/** list_rows_note() - add a note. Return: 0 or -ENOMEM */
int list_rows_note(struct list_rows *rows, const char *text);

/** list_rows_finish() - sum and make columns, after all rows were added. Return: 0 or -ENOMEM */
int list_rows_finish(struct list_rows *rows);

/** list_rows_report() - make a report without its header; @notes: include notes */
struct report list_rows_report(const struct list_rows *rows, bool notes);

void list_rows_deinit(struct list_rows *rows);

#endif
