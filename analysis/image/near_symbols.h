/* SPDX-License-Identifier: GPL-2.0-only */
/* Symbols that are similar to a name that does not exist (lib/near_names.h). */
#ifndef DCPI_NEAR_SYMBOLS_H
#define DCPI_NEAR_SYMBOLS_H

struct near_names;

/**
 * near_symbols_add() - near_names_add() for a symbol
 *
 * Names of C++, Rust, Fortran and OCaml are compared and suggested in demangled form.
 */
void near_symbols_add(struct near_names *near, const char *symbol);

#endif
