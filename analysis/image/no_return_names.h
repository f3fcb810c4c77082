/* SPDX-License-Identifier: GPL-2.0-only */
/* Procedures of system libraries and language runtimes that never return. */
#ifndef DCPI_NO_RETURN_NAMES_H
#define DCPI_NO_RETURN_NAMES_H

#include <stdbool.h>

/** no_return_names_has() - check a symbol's name; "NAME@plt" counts as NAME. */
bool no_return_names_has(const char *name);

/** no_return_names_kernel_has() - check the name of a procedure of the Linux kernel. */
bool no_return_names_kernel_has(const char *name);

/**
 * no_return_names_fails() - check for names like error(3): return only if the first argument is 0.
 */
bool no_return_names_fails(const char *name);

#endif
