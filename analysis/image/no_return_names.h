/* SPDX-License-Identifier: GPL-2.0-only */
/* Procedures of system libraries and language runtimes that never return. */
#ifndef DCPI_NO_RETURN_NAMES_H
#define DCPI_NO_RETURN_NAMES_H

#include <stdbool.h>

/** no_return_names_has() - by a symbol's name; "NAME@plt" counts as NAME. */
bool no_return_names_has(const char *name);

/** no_return_names_fails() - those that only return if their first argument is 0: error(3). */
bool no_return_names_fails(const char *name);

#endif
