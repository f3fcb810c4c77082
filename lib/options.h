/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options of a program: one table for getopt_long(3) and for --help.
 *
 *	static const struct option_entry entries[] = {
 *		{'q', "quiet", NULL, "only errors on stderr"},
 *		{KEY_DB, "db", "PATH", "the database"},
 *	};
 *
 *	options_init(&options, "dcpid", false);
 *	options_add(&options, entries, 2);
 *	while ((key = options_next(&options, argc, argv, &err)) >= 0)
 *		...
 *	if (key != OPTIONS_END)
 *		the command line is wrong, err says why
 *
 * Every program has -h, --help and --version.
 */
#ifndef DCPI_OPTIONS_H
#define DCPI_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct error;

#define OPTIONS_MAX 64

/* Keys of the options that every program has. */
#define OPTIONS_HELP 'h'
#define OPTIONS_VERSION 255

/* options_next(): no more options; operands begin at argv[optind]. */
#define OPTIONS_END (-1)

/**
 * struct option_entry - an option
 * @key:      its letter, or a number above 255 if it has none
 * @name:     long name
 * @argument: name of its argument in the help, or NULL if it takes none
 * @help:     description, or NULL: an alias, not shown
 */
struct option_entry {
	int key;
	const char *name;
	const char *argument;
	const char *help;
};

/** struct options - options of a program; fields are private. */
struct options {
	const char *program;
	const struct option_entry *entries[OPTIONS_MAX];
	size_t count;
	char letters[2 * OPTIONS_MAX + 3];
	struct option names[OPTIONS_MAX + 1];
};

/**
 * options_init() - begin a table
 * @program:      name, for messages
 * @stop_at_operand: the arguments after the first operand are not for this program
 */
void options_init(struct options *options, const char *program, bool stop_at_operand);

/** options_add() - add @count entries, which are kept by reference. At most OPTIONS_MAX. */
void options_add(struct options *options, const struct option_entry *entries, size_t count);

/**
 * options_next() - return the next option of the command line
 *
 * Keeps its position in optind, like getopt(3); an argument is in optarg.
 *
 * Return: the key of the option; OPTIONS_END; -EINVAL if the option is unknown, lacks its argument,
 * or takes none.
 */
int options_next(struct options *options, int argc, char **argv, struct error *err);

/** options_rows() - parse a number of rows, 0 or more. Return: 0 or -EINVAL. */
int options_rows(const char *argument, size_t *ret, struct error *err);

/** options_help() - print usage, summary and all options, in lines of 80 characters at most. */
void options_help(FILE *stream, const struct options *options, const char *synopsis,
		  const char *summary);

/** options_version() - print name and version, the same way for all programs. */
void options_version(FILE *stream, const struct options *options);

#endif
