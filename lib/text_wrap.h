/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts as wide as they are, and no wider than they may be. */
#ifndef DCPI_TEXT_WRAP_H
#define DCPI_TEXT_WRAP_H

#include <stddef.h>
#include <stdio.h>

/** text_width() - characters of a clean text. */
size_t text_width(const char *text);

/**
 * text_wrap() - print a clean text as lines that fit, broken at blanks
 * @width:  of a line; a word that is longer stands alone
 * @column: where the first line has got to: at least @indent
 * @indent: blanks before the others
 */
void text_wrap(FILE *stream, const char *text, size_t width, size_t column, size_t indent);

#endif
