/* SPDX-License-Identifier: GPL-2.0-only */
/* C++ names as the source has them. */
#ifndef DCPI_DEMANGLE_H
#define DCPI_DEMANGLE_H

/**
 * demangle() - demangle a C++ name
 * @name: any symbol; "@plt" at its end stays
 *
 * Uses libstdc++, loaded at the first mangled name; without it, and for names
 * that are not mangled or longer than any compiler makes them, there is no
 * result.
 *
 * Return: malloc'd string, or NULL: use @name as it is.
 */
char *demangle(const char *name);

#endif
