/* SPDX-License-Identifier: GPL-2.0-only */
/* Strings from outside, made fit for terminals and files. */
#ifndef DCPI_TEXT_H
#define DCPI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/text_wrap.h"

/* Longer names are cut: nobody reads them. */
#define TEXT_BYTES_MAX 8192

/**
 * text_clean() - a copy without anything that a terminal would obey
 *
 * Control characters and bytes that are not UTF-8 become '?'.
 *
 * Return: malloc'd, or NULL if out of memory.
 */
char *text_clean(const char *text);

/** text_csv() - print as a field of a line, as RFC 4180 has it; @first in there. */
void text_csv(FILE *stream, const char *text, bool first);

/** text_last_part() - the part of a path after its last slash. */
const char *text_last_part(const char *path);

/** text_skip() - where character @count of a clean text begins, or its end. */
const char *text_skip(const char *text, size_t count);

#endif
