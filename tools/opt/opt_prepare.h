/* SPDX-License-Identifier: GPL-2.0-only */
/* dcpiopt prepare: an optimised copy of a program, or inputs for its build. */
#ifndef DCPI_OPT_PREPARE_H
#define DCPI_OPT_PREPARE_H

struct cli;
struct error;

/** enum opt_prepare_for - the kind of result */
enum opt_prepare_for {
	OPT_PREPARE_BOLT,    /* an optimised copy */
	OPT_PREPARE_AUTOFDO, /* a profile for clang or GCC */
	OPT_PREPARE_ORDER,   /* order of procedures, for lld and gold */
};

/** opt_prepare_for_parse() - find a value by its name. Return: 0 or -EINVAL */
int opt_prepare_for_parse(enum opt_prepare_for *ret, const char *name, struct error *err);

/**
 * opt_prepare() - prepare a program
 * @image:  path of the program
 * @folder: for the results; NULL: NAME.opt in the current directory
 *
 * Return: the status to exit with; CLI_NOTHING: "not worth it", with the reason on stdout.
 */
int opt_prepare(struct cli *cli, enum opt_prepare_for what, const char *image, const char *folder);

#endif
