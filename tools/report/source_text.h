/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of source files, if the files are available. */
#ifndef DCPI_SOURCE_TEXT_H
#define DCPI_SOURCE_TEXT_H

#include <stddef.h>

struct source_text;

/**
 * struct source_paths - locations of the files that debugging information names
 * @substitutes: "FROM=TO": a path that begins with FROM begins with TO instead; the first match
 *               applies
 * @directories: searched for files that are not at their path. The longest tail of the path is
 *               tried first: for /a/b/c.c, DIRECTORY/a/b/c.c, DIRECTORY/b/c.c, DIRECTORY/c.c
 *
 * Strings and arrays are owned by the caller.
 */
struct source_paths {
	const char **substitutes;
	size_t substitute_count;
	const char **directories;
	size_t directory_count;
};

/**
 * source_text_create() - create an empty cache of files
 * @paths: must outlive it; NULL: files are at their path
 *
 * Return: NULL if out of memory.
 */
struct source_text *source_text_create(const struct source_paths *paths);

/** source_text_destroy() - free; @text may be NULL */
void source_text_destroy(struct source_text *text);

/**
 * source_text_line() - return a line of a file
 * @line: 1 ..
 *
 * Files stay in memory, up to a limit; only regular files are read.
 *
 * Return: text safe for terminals, with tabs expanded and without leading blanks, valid until the
 * next call; NULL if the line is not available.
 */
const char *source_text_line(struct source_text *text, const char *path, unsigned int line);

/** source_text_whole() - return a line like source_text_line(), but with leading blanks */
const char *source_text_whole(struct source_text *text, const char *path, unsigned int line);

/** source_text_lines() - return the number of lines of a file; 0 if it is not available */
size_t source_text_lines(struct source_text *text, const char *path);

#endif
