/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dcpitop's screen. The terminal is restored before these functions return, also after SIGINT,
 * SIGTERM and SIGHUP, and while the program is stopped.
 */
#ifndef DCPI_TOP_SCREEN_H
#define DCPI_TOP_SCREEN_H

#include "tools/top/top_flush.h"
#include "tools/top/top_view.h"

/**
 * struct top_screen_options - frequency of refreshes
 * @interval_ns: between refreshes
 * @count:       number of refreshes until the end; 0: until the user quits
 */
struct top_screen_options {
	int64_t interval_ns;
	int64_t count;
};

/**
 * top_screen_open() - prepare the terminal, if stdin and stdout are one
 *
 * Context: call before the sandbox is entered, because curses reads the terminal's description from
 * a file.
 *
 * Return: 0; -EINVAL: the terminal's type is not known.
 */
int top_screen_open(bool color, struct error *err);

/** top_screen_close() - restore the terminal */
void top_screen_close(void);

/**
 * top_screen_run() - show a view until the user quits
 * @view: must have been updated
 *
 * Return: 0; -ENOTTY: stdin or stdout is not a terminal; -ENOMEM; or the error of poll(2),
 * signalfd(2).
 */
int top_screen_run(struct top_view *view, struct top_flush *flush,
		   const struct top_screen_options *options, struct error *err);

#endif
