/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a procedure is the one that a user has named.
 *
 * Names are the linker's. One of C++, Rust, Fortran or OCaml may be given as reports print it,
 * or without any of these: what it returns, its parameters and what follows them, arguments of
 * templates and generics, what the compiler says that it made of it, and the brackets that Rust's
 * newer scheme has around the type of a method.
 */
#ifndef DCPI_CALC_NAMES_H
#define DCPI_CALC_NAMES_H

#include <stdbool.h>

/**
 * struct calc_name - a name that a user gave
 * @text: the caller's
 * @word: an identifier that is in the linker's form of every name that is meant, "" if none
 *        is known to be: the others need not be demangled
 */
struct calc_name {
	const char *text;
	char word[64];
};

/**
 * calc_name_colon() - where IMAGE ends in IMAGE:PROCEDURE
 *
 * At the first colon that is no half of "::", nor in brackets: "main::{lambda(auto:1)#1}",
 * "f[abi:x]".
 *
 * Return: NULL if there is none: it is a procedure.
 */
const char *calc_name_colon(const char *operand);

/** calc_name_make() - of what a user gave; points to it. */
struct calc_name calc_name_make(const char *text);

/**
 * calc_name_means() - whether a C++ procedure, or one that the compiler made of that name
 * (name.constprop.0), is meant
 * @name: the linker's
 *
 * A stub of the linkage table ("@plt") must be named as one.
 */
bool calc_name_means(const struct calc_name *wanted, const char *name);

#endif
