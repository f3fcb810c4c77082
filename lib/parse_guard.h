/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Record the file that a thread is parsing, and limit the time for parsing it, so that a crash or
 * an endless loop of a parser can be attributed to the file.
 *
 *	previous = parse_guard_begin(subject);
 *	r = parse();
 *	parse_guard_end(previous, r);
 *
 * Outside a sandbox nothing is watched.
 */
#ifndef DCPI_PARSE_GUARD_H
#define DCPI_PARSE_GUARD_H

#include <stdint.h>

/** enum parse_failure - kinds of BROKER_FAILED */
enum parse_failure {
	PARSE_FAILURE_SIGNAL, /* broker_message.flags: its number */
	PARSE_FAILURE_TIME,   /* broker_message.flags: seconds */
	PARSE_FAILURE_MEMORY,
};

/**
 * parse_guard_name() - return a copy of a path that lasts as long as the process; NULL: nothing is
 * watched
 */
const char *parse_guard_name(const char *path);

/**
 * parse_guard_begin() - record that this thread starts to parse a file
 * @subject: result of parse_guard_name()
 *
 * Return: for parse_guard_end(): the file that the thread parsed before; NULL: none.
 */
const char *parse_guard_begin(const char *subject);

/**
 * parse_guard_end() - end parsing a file
 * @previous: result of parse_guard_begin()
 * @r:        result of the parser; -ENOMEM is attributed to the file
 */
void parse_guard_end(const char *previous, int r);

/** parse_guard_memory() - return the last file whose parser ran out of memory; NULL: none. */
const char *parse_guard_memory(void);

/**
 * parse_guard_start() - report crashes, and files that take more than @seconds of CPU time, to
 * the broker, and end the process
 *
 * The CPU time is that of one thread, between parse_guard_begin() and parse_guard_end() for one
 * file after another.
 */
void parse_guard_start(int seconds);

#endif
