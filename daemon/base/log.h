/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines on stderr, for people and for the journal.
 *
 * "program: message"; with a priority prefix (sd-daemon(3)) instead of the
 * name where stderr is the journal.
 */
#ifndef DCPI_LOG_H
#define DCPI_LOG_H

#include <stdbool.h>
#include <stdint.h>

/** log_init() - @program: static; before that, lines have no name. */
void log_init(const char *program);

/** enum log_level - what a line is; each says less than the next, which has it too */
enum log_level {
	LOG_LEVEL_ERROR,   /* something was not done */
	LOG_LEVEL_WARNING, /* it was, but less of it, or not as asked for */
	LOG_LEVEL_INFO,	   /* how it was done */
};

/** log_level_parse() - "error", "warning" or "info". Return: whether it is one. */
bool log_level_parse(const char *name, enum log_level *ret);

/** log_set_level() - say lines up to a level; to begin with, all */
void log_set_level(enum log_level level);

/**
 * log_hold() - keep what log_info() and log_warning() say until log_release()
 *
 * A start that fails then ends with its one line of error; one that succeeds
 * tells everything. At most LOG_HELD_BYTES are kept, the rest is dropped.
 */
void log_hold(void);

/** log_release() - say what was held; from now on nothing is. */
void log_release(void);

#define LOG_HELD_BYTES 4096

/**
 * log_last_error() - what log_error() said last
 * @time_ns: out: when, CLOCK_MONOTONIC
 *
 * Return: "" if nothing was; valid until the next error.
 */
const char *log_last_error(uint64_t *time_ns);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
