/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Texts of failures that several places report: the same failure has the same words everywhere.
 *
 * These are formats of error_set() and error_set_errno(); the latter appends the reason of the
 * system, as in "cannot open 'X': No such file or directory". A new text belongs here as soon as a
 * second place reports the failure. Names of files and arguments are within single quotes.
 */
#ifndef DCPI_ERROR_TEXT_H
#define DCPI_ERROR_TEXT_H

#define ERROR_NO_MEMORY "out of memory"

/* Files; the argument is the path. */
#define ERROR_OPEN "cannot open '%s'"
#define ERROR_READ "cannot read '%s'"
#define ERROR_WRITE "cannot write '%s'"
#define ERROR_CREATE "cannot create '%s'"
#define ERROR_RUN "cannot run '%s'"
#define ERROR_FIND "cannot find '%s'"
#define ERROR_WRITE_OUTPUT "cannot write the output"
#define ERROR_DAMAGED "'%s' is damaged"
#define ERROR_NOT_ELF "'%s' is not an ELF file"
#define ERROR_SOCKET_PATH "path of socket is too long: '%s'"

/* Parsing of a file in a process of its own; the argument is a signal. */
#define ERROR_PARSE_CRASHED "parsing crashed (signal %d)"
#define ERROR_PARSE_TIME "parsing exceeds the limit of CPU time"

/* Resources of the system. */
#define ERROR_SOCKET "cannot create a socket"
#define ERROR_THREAD "cannot start a thread"
#define ERROR_PROCESS "cannot start a process"
#define ERROR_EVENT_DESCRIPTOR "cannot create an event descriptor"
#define ERROR_EPOLL_DESCRIPTOR "cannot create an epoll descriptor"

/* The command line. @program: a string literal, "%s" for an argument. */
#define ERROR_SEE_HELP(program) " (see '" program " --help')"
#define ERROR_UNEXPECTED_ARGUMENT(program) "unexpected argument '%s'" ERROR_SEE_HELP(program)
/* Two options, or an option and what else was given. */
#define ERROR_EXCLUSIVE(one, other) one " and " other " are mutually exclusive"
/* Arguments: value, kind of value ("number of rows"). */
#define ERROR_NOT_VALID "'%s' is not a valid %s"
#define ERROR_NO_COLUMN "cannot sort by '%s': no such column"
#define ERROR_TERMINAL "cannot write %s to a terminal: use --output FILE"

/* The profile database. */
#define ERROR_NO_EPOCH "no epoch matches"
#define ERROR_DATABASE_COUNTS "database is damaged: counts are out of range"
#define ERROR_DATABASE_STACKS "database is damaged: call stacks cannot be read"
#define ERROR_DATABASE_IMAGE "database is damaged: samples refer to an unknown image"

#endif
