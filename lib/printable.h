/* SPDX-License-Identifier: GPL-2.0-only */
/* What of a string from outside a terminal only shows, and what it would obey. */
#ifndef DCPI_PRINTABLE_H
#define DCPI_PRINTABLE_H

#include <stddef.h>

/**
 * printable_bytes() - of the UTF-8 character at @text, which ends with NUL
 *
 * Return: 1..4; 0: it is a control character (C0, DEL or C1), or no character.
 */
size_t printable_bytes(const char *text);

/** printable_make() - put '?' in the place of each byte that is none of a printable character. */
void printable_make(char *text);

#endif
