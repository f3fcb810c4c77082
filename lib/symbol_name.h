/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of code symbols in ELF files: which are useful, and which of several is the most readable.
 */
#ifndef DCPI_SYMBOL_NAME_H
#define DCPI_SYMBOL_NAME_H

#include <stdbool.h>

/**
 * symbol_name_is_noise() - return true for labels from compilers and assemblers: "", ".L12",
 * ".annobin_f", and "$x" on ARM
 */
bool symbol_name_is_noise(const char *name);

/**
 * symbol_name_prefer() - choose the more readable of two names of one address
 *
 * The order is: names not made by a compiler ("f.part.0"), then fewest leading underscores, then
 * shortest, then alphabetical, by the first 256 bytes.
 *
 * Return: < 0 for @a, > 0 for @b, 0 if they are the same.
 */
int symbol_name_prefer(const char *a, const char *b);

#endif
