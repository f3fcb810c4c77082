/* SPDX-License-Identifier: GPL-2.0-only */
/* Distinguish printable characters of untrusted strings from control characters for terminals. */
#ifndef DCPI_PRINTABLE_H
#define DCPI_PRINTABLE_H

#include <stddef.h>

/**
 * printable_bytes() - return the length of the UTF-8 character at @text, which ends with NUL
 *
 * Return: 1..4; 0: a control character (C0, DEL or C1), or not a valid character.
 */
size_t printable_bytes(const char *text);

/** printable_make() - replace each byte that is not part of a printable character by '?' */
void printable_make(char *text);

#endif
