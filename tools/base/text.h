/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes strings from outside safe for terminals and files. */
#ifndef DCPI_TEXT_H
#define DCPI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/text_wrap.h"

/* Longer names are truncated; they would not be readable. */
#define TEXT_BYTES_MAX 8192

/**
 * text_clean() - copy a text without anything that a terminal would interpret
 *
 * Control characters and bytes that are not UTF-8 become '?'.
 *
 * Return: malloc'd, or NULL if out of memory.
 */
char *text_clean(const char *text);

/**
 * text_csv() - print a field of an RFC 4180 line; @first: the field is the first one of its line
 */
void text_csv(FILE *stream, const char *text, bool first);

/** text_last_part() - return the part of a path after its last slash */
const char *text_last_part(const char *path);

/** text_skip() - return the position of character @count in a clean text, or its end */
const char *text_skip(const char *text, size_t count);

#endif
