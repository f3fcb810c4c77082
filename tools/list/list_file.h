/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists a whole source file, with the samples that all images have in its lines. */
#ifndef DCPI_LIST_FILE_H
#define DCPI_LIST_FILE_H

#include "tools/list/list_rows.h"

struct error;
struct source_text;

/**
 * list_file() - list a file
 * @name:   its path, or the end of it: "list.c", "sub/list.c"
 * @tally:  by line
 * @rows:   out: lines are added; they point to @counts
 * @counts: out: freed by the caller
 * @path:   out: the file's path, owned by the tally
 *
 * Return: 0; -ENOENT: no file of that name has samples, or the file cannot be read; -EINVAL:
 * several files match; -ENOMEM.
 */
int list_file(const char *name, struct tally *tally, struct source_text *source,
	      struct list_rows *rows, struct tally_count **counts, const char **path,
	      struct error *err);

#endif
