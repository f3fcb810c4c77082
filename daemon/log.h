/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines on stderr, for people and for the journal.
 *
 * "program: message"; with a priority prefix (sd-daemon(3)) instead of the
 * name where stderr is the journal.
 */
#ifndef DCPI_LOG_H
#define DCPI_LOG_H

#include <stdint.h>

/** log_init() - @program: static; before that, lines have no name. */
void log_init(const char *program);

/** log_verbose() - whether log_info() says anything; it does by default. */
void log_verbose(int verbose);

/**
 * log_hold() - keep what log_info() says until log_release()
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
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
