/* SPDX-License-Identifier: GPL-2.0-only */
/* Wrap texts at word boundaries, and measure their width. */
#ifndef DCPI_TEXT_WRAP_H
#define DCPI_TEXT_WRAP_H

#include <stddef.h>
#include <stdio.h>

/** text_width() - return the number of characters of a clean text */
size_t text_width(const char *text);

/**
 * text_wrap() - print a clean text as lines of at most @width columns, wrapped at blanks
 * @width:  columns of a line; a longer word gets its own line
 * @column: current column of the first line: at least @indent
 * @indent: blanks at the start of the other lines
 */
void text_wrap(FILE *stream, const char *text, size_t width, size_t column, size_t indent);

#endif
