/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of C++, Rust, Fortran and OCaml as the source has them. */
#ifndef DCPI_DEMANGLE_H
#define DCPI_DEMANGLE_H

#include <stdbool.h>

/**
 * demangle_is_mangled() - whether a name may be one that demangle() knows
 *
 * Cheap: names that C++ and Rust compilers reserve begin with "_Z" or "_R", gfortran's of
 * modules are "__module_MOD_procedure", OCaml's begin with "caml" and a module.
 */
bool demangle_is_mangled(const char *name);

/**
 * demangle() - demangle a name of C++, Rust (both of its schemes), Fortran or OCaml
 * @name: any symbol; "@plt" or a version at its end stays
 *
 * Hashes, by which Rust's older scheme tells instances of one generic function
 * apart, are left out; the numbers of OCaml's functions stay. For names that are
 * not mangled, or longer than any compiler makes them (as they are, or readable),
 * there is no result.
 *
 * Return: malloc'd string, or NULL: use @name as it is.
 */
char *demangle(const char *name);

#endif
