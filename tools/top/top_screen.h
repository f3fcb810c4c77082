/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dcpitop's screen. The terminal is as it was before when this returns, also after
 * SIGINT, SIGTERM and SIGHUP, and while the program is stopped.
 */
#ifndef DCPI_TOP_SCREEN_H
#define DCPI_TOP_SCREEN_H

#include "tools/top/top_flush.h"
#include "tools/top/top_view.h"

/**
 * struct top_screen_options - how
 * @interval_ns: between refreshes
 * @count:       refreshes, then end; 0: until told to
 */
struct top_screen_options {
	int64_t interval_ns;
	int64_t count;
};

/**
 * top_screen_open() - prepare the terminal, if stdin and stdout are one
 *
 * Context: before the sandbox, as curses reads the terminal's description from a file.
 *
 * Return: 0; -EINVAL the terminal's type is not known.
 */
int top_screen_open(bool color, struct error *err);

/** top_screen_close() - restore the terminal. */
void top_screen_close(void);

/**
 * top_screen_run() - show a view until the user has enough
 * @view: updated before
 *
 * Return: 0; -ENOTTY stdin or stdout is no terminal; -ENOMEM; or the error of poll(2),
 * signalfd(2).
 */
int top_screen_run(struct top_view *view, struct top_flush *flush,
		   const struct top_screen_options *options, struct error *err);

#endif
