/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Demangling of C++, Rust, Fortran and OCaml names, and of Go's generic functions.
 */
#ifndef DCPI_DEMANGLE_H
#define DCPI_DEMANGLE_H

#include <stdbool.h>

/**
 * demangle_is_mangled() - return true if a name may be one that demangle() knows
 *
 * Cheap: mangled names of C++ and Rust begin with "_Z" or "_R", those of gfortran modules are
 * "__module_MOD_procedure", those of OCaml begin with "caml" and a module. The names of Go's
 * generic functions contain type arguments in brackets.
 */
bool demangle_is_mangled(const char *name);

/**
 * demangle() - demangle a name of C++, Rust (both of its schemes), Fortran, OCaml or Go
 * @name: any symbol; "@plt" or a version at its end is kept
 *
 * Hashes that distinguish instances of a generic function in Rust's older scheme are left out; the
 * numbers of OCaml's functions are kept. Type arguments of Go's functions become "[...]", as in
 * Go's own reports and in stripped programs. There is no result for names that are not mangled, or
 * whose mangled or demangled form is longer than compilers generate.
 *
 * Return: malloc'd string, or NULL: use @name unchanged.
 */
char *demangle(const char *name);

#endif
