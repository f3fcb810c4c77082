/* SPDX-License-Identifier: GPL-2.0-only */
/* Shortens names of procedures so that the beginning and the end remain. */
#ifndef DCPI_SHORT_NAME_H
#define DCPI_SHORT_NAME_H

#include <stddef.h>

/**
 * short_name() - shorten a name to at most @width characters
 * @name: clean text, as of text_clean()
 *
 * Template arguments become "<...>", the innermost ones first, as many as necessary. If that is not
 * enough, parameters become "(...)". If that is not enough either, the middle of the name becomes
 * "...".
 *
 * Return: malloc'd, or NULL if out of memory.
 */
char *short_name(const char *name, size_t width);

#endif
