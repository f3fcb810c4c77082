/* SPDX-License-Identifier: GPL-2.0-only */
/* A whole source file, with the samples that all images have in its lines. */
#ifndef DCPI_LIST_FILE_H
#define DCPI_LIST_FILE_H

#include "tools/list/list_rows.h"

struct error;
struct source_text;

/**
 * list_file() - list it
 * @name:   its path, or the end of it: "list.c", "sub/list.c"
 * @tally:  by line
 * @rows:   out: lines are added, and their counts are those of
 * @counts: out: freed by the caller
 * @path:   out: the file's; a string of the tally's
 *
 * Return: 0; -ENOENT no samples are in a file of that name, or it is not to be had; -EINVAL
 * there are several; -ENOMEM.
 */
int list_file(const char *name, struct tally *tally, struct source_text *source,
	      struct list_rows *rows, struct tally_count **counts, const char **path,
	      struct error *err);

#endif
