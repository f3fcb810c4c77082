/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of source files, as far as the files are there. */
#ifndef DCPI_SOURCE_TEXT_H
#define DCPI_SOURCE_TEXT_H

struct source_text;

/** source_text_create() - an empty store of files. Return: NULL if out of memory. */
struct source_text *source_text_create(void);

/** source_text_destroy() - free. NULL is fine. */
void source_text_destroy(struct source_text *text);

/**
 * source_text_line() - a line of a file
 * @line: 1 ..
 *
 * Files stay in memory, up to a bound; only regular ones are read.
 *
 * Return: fit for terminals, without blanks at its beginning, valid until the next
 * call; NULL if it is not to be had.
 */
const char *source_text_line(struct source_text *text, const char *path, unsigned int line);

#endif
