/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of source files, as far as the files are there. */
#ifndef DCPI_SOURCE_TEXT_H
#define DCPI_SOURCE_TEXT_H

#include <stddef.h>

struct source_text;

/**
 * struct source_paths - where the files are that the debugging information names
 * @substitutes: "FROM=TO": a path that begins with FROM begins with TO instead; the first
 *               that fits is taken
 * @directories: where files are looked for that are not at their path, the nearest to the
 *               root first: of /a/b/c.c, DIRECTORY/a/b/c.c, DIRECTORY/b/c.c, DIRECTORY/c.c
 *
 * Strings and arrays are the caller's.
 */
struct source_paths {
	const char **substitutes;
	size_t substitute_count;
	const char **directories;
	size_t directory_count;
};

/**
 * source_text_create() - an empty store of files
 * @paths: must outlive it; NULL: files are at their path
 *
 * Return: NULL if out of memory.
 */
struct source_text *source_text_create(const struct source_paths *paths);

/** source_text_destroy() - free. NULL is fine. */
void source_text_destroy(struct source_text *text);

/**
 * source_text_line() - a line of a file
 * @line: 1 ..
 *
 * Files stay in memory, up to a bound; only regular ones are read.
 *
 * Return: fit for terminals, with blanks for tabs, but none at its beginning, valid until
 * the next call; NULL if it is not to be had.
 */
const char *source_text_line(struct source_text *text, const char *path, unsigned int line);

/** source_text_whole() - likewise, with the blanks at its beginning. */
const char *source_text_whole(struct source_text *text, const char *path, unsigned int line);

/** source_text_lines() - how many lines a file has; 0: it is not to be had. */
size_t source_text_lines(struct source_text *text, const char *path);

#endif
