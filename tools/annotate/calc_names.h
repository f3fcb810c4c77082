/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides if a user's name refers to a procedure.
 *
 * Names are the linker's. A name of C++, Rust, Fortran or OCaml may be given as reports print it.
 * The return type, the parameters and the text after them, template and generic arguments, and the
 * note of a compiler-made variant may be omitted. So may the brackets that Rust's newer scheme puts
 * around the type of a method.
 */
#ifndef DCPI_CALC_NAMES_H
#define DCPI_CALC_NAMES_H

#include <stdbool.h>

/**
 * struct calc_name - a name that a user gave
 * @text: owned by the caller
 * @word: an identifier that the linker's form of every matching name contains; "" if none is known.
 *        Names without it need not be demangled
 */
struct calc_name {
	const char *text;
	char word[64];
};

/**
 * calc_name_colon() - find the end of IMAGE in IMAGE:PROCEDURE
 *
 * It is the first colon that is neither part of "::" nor inside brackets, as in
 * "main::{lambda(auto:1)#1}" and "f[abi:x]".
 *
 * Return: NULL if there is none: the operand is a procedure.
 */
const char *calc_name_colon(const char *operand);

/** calc_name_make() - prepare a name that a user gave; the result points to @text */
struct calc_name calc_name_make(const char *text);

/**
 * calc_name_means() - return true if @wanted refers to a C++ procedure, or to one that the compiler
 * derived from that name (name.constprop.0)
 * @name: the linker's
 *
 * A stub of the linkage table ("@plt") must be named as one.
 */
bool calc_name_means(const struct calc_name *wanted, const char *name);

#endif
