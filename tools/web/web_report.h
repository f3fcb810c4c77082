/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reports that answer requests, and the command lines that make them.
 *
 * Each resource is the output of one program. Parameters of a request become options of that
 * program, one argument each, so that no value can become another option.
 */
#ifndef DCPI_WEB_REPORT_H
#define DCPI_WEB_REPORT_H

#include <stdbool.h>
#include <stddef.h>

struct cli;
struct error;

/* Bytes of the value of a parameter. */
#define WEB_VALUE_BYTES_MAX 1024
#define WEB_PARAMETERS 14

/**
 * struct web_report - a resource
 * @path:       of its URL
 * @program:    that prints it, in the folder of this program
 * @arguments:  of the program, ends with NULL
 * @default_limit: argument if a request has no parameter "limit"; NULL: none
 * @type:       media type
 * @parameters: set of enum web_parameter, private
 * @operand:    parameter that becomes the operand and must be given; NULL: none
 * @sources:    the program takes options for source files
 */
struct web_report {
	const char *path;
	const char *program;
	const char *const *arguments;
	const char *default_limit;
	const char *type;
	unsigned int parameters;
	const char *operand;
	bool sources;
};

/** web_report_find() - return the resource with a path; NULL: there is none */
const struct web_report *web_report_find(const char *path);

/** web_report_is_page() - return true for the page, which is shown by a browser */
bool web_report_is_page(const struct web_report *report);

/**
 * struct web_query - a request for a report; zero-initialised except @report
 * @values:    by parameter; NULL: not given
 * @refresh_s: the browser loads the page again after this time; 0: it does not
 * @live_s:    the page asks again after this time whether it has changed; 0: it does not
 * @moves:     a parameter is a time relative to now: the result changes with time
 */
struct web_query {
	const struct web_report *report;
	char *values[WEB_PARAMETERS];
	unsigned int refresh_s;
	unsigned int live_s;
	bool moves;
};

/**
 * web_query_add() - add a parameter of the request
 * @name, @value: decoded, from the client; @bytes: of @value, which may contain NUL
 *
 * Return: 0; -EINVAL: the resource has no such parameter, it was given before, or its value is not
 * valid; -ENOMEM.
 */
int web_query_add(struct web_query *query, const char *name, const char *value, size_t bytes,
		  struct error *err);

/** web_query_check() - check that nothing is missing. Return: 0 or -EINVAL */
int web_query_check(const struct web_query *query, struct error *err);

/** web_query_any() - return true if the request has parameters */
bool web_query_any(const struct web_query *query);

void web_query_deinit(struct web_query *query);

/**
 * web_query_command() - make the command line of the report
 * @folder:   of the programs
 * @database: absolute path
 * @cli:      options that apply to all reports
 *
 * Return: ends with NULL, freed by web_command_free(); NULL: out of memory.
 */
char **web_query_command(const struct web_query *query, const char *folder, const char *database,
			 const struct cli *cli);

void web_command_free(char **command);

#endif
