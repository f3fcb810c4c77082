/* SPDX-License-Identifier: GPL-2.0-only */
/* The source, or the instructions, of a procedure, with samples. */
#ifndef DCPI_LIST_PROCEDURE_H
#define DCPI_LIST_PROCEDURE_H

#include "tools/calc/calc_select.h"
#include "tools/list/list_rows.h"

struct source_text;

/**
 * struct list_procedure - what is to be listed
 * @choice: the image, open, and the procedure
 * @tally:  of the image, by instruction
 * @source: where source lines come from
 */
struct list_procedure {
	const struct calc_choice *choice;
	struct tally *tally;
	struct source_text *source;
};

/**
 * list_procedure_code() - its instructions, with source lines between as notes
 * @rows: out: they are added
 *
 * Return: 0 or -ENOMEM.
 */
int list_procedure_code(const struct list_procedure *procedure, struct list_rows *rows);

struct list_lines;

/**
 * list_procedure_source() - the lines that it was made from
 * @ret:   out: the counts that rows point to; freed by list_lines_free()
 *
 * Of the file that it begins in, all lines from its first to its last, but for those that
 * are far from any with code; of files that code was inlined from, lines with samples.
 *
 * Return: 0; -ENODATA no lines are known, or the file that it begins in is not to be had,
 * with *@why set; -ENOMEM.
 */
int list_procedure_source(const struct list_procedure *procedure, struct list_rows *rows,
			  struct list_lines **ret, const char **why);

/** list_lines_free() - NULL is fine. */
void list_lines_free(struct list_lines *lines);

#endif
