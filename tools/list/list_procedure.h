/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists the source or the instructions of a procedure, with samples. */
#ifndef DCPI_LIST_PROCEDURE_H
#define DCPI_LIST_PROCEDURE_H

#include "tools/annotate/calc_select.h"
#include "tools/list/list_rows.h"

struct source_text;

/**
 * struct list_procedure - the procedure to be listed
 * @choice: the open image, and the procedure
 * @tally:  of the image, by instruction
 * @source: source of source lines
 */
struct list_procedure {
	const struct calc_choice *choice;
	struct tally *tally;
	struct source_text *source;
};

/**
 * list_procedure_code() - list instructions, with source lines between them as notes
 * @rows: out: rows are added
 *
 * Return: 0 or -ENOMEM.
 */
int list_procedure_code(const struct list_procedure *procedure, struct list_rows *rows);

struct list_lines;

/**
 * list_procedure_source() - list the source lines of the procedure
 * @ret: out: the counts to which the rows point; freed by list_lines_free()
 *
 * From the file in which the procedure begins, all lines from its first to its last are listed,
 * except lines far from any line with code. From files of inlined code, only lines with samples are
 * listed.
 *
 * Return: 0; -ENODATA: no lines are known, or the file in which it begins cannot be read, and *@why
 * is the reason; -ENOMEM.
 */
int list_procedure_source(const struct list_procedure *procedure, struct list_rows *rows,
			  struct list_lines **ret, const char **why);

/** list_lines_free() - free; @lines may be NULL */
void list_lines_free(struct list_lines *lines);

#endif
