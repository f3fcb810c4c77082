/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages on stderr, for users and for the journal.
 *
 * The format is "program: message". If stderr is the journal, a priority prefix (sd-daemon(3))
 * replaces the program's name.
 */
#ifndef DCPI_LOG_H
#define DCPI_LOG_H

#include <stdbool.h>
#include <stdint.h>

/** log_init() - set the name of the @program (static); before that, messages have no prefix. */
void log_init(const char *program);

/** enum log_level - severity of a message; each level includes the ones before it */
enum log_level {
	LOG_LEVEL_ERROR,   /* an operation failed */
	LOG_LEVEL_WARNING, /* it succeeded only partly, or differently than requested */
	LOG_LEVEL_INFO,	   /* how it was done */
};

/** log_level_parse() - parse "error", "warning" or "info". Return: false for any other name. */
bool log_level_parse(const char *name, enum log_level *ret);

/** log_set_level() - print messages up to this level; by default, all */
void log_set_level(enum log_level level);

/**
 * log_hold() - buffer the messages of log_info() and log_warning() until log_release()
 *
 * If startup fails, only its error message is printed; if startup succeeds, all messages are. At
 * most LOG_HELD_BYTES are buffered, the rest is dropped.
 */
void log_hold(void);

/** log_release() - print the buffered messages and stop buffering. */
void log_release(void);

#define LOG_HELD_BYTES 4096

/**
 * log_last_error() - return the message of the last log_error()
 * @time_ns: out: when, CLOCK_MONOTONIC
 *
 * Return: "" if there was no error; valid until the next error.
 */
const char *log_last_error(uint64_t *time_ns);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
