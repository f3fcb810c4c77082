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
 * @color:       the terminal's colours may be used
 */
struct top_screen_options {
	int64_t interval_ns;
	int64_t count;
	bool color;
};

/**
 * top_screen_run() - show a view until the user has enough
 * @view: updated before
 *
 * Return: 0; -ENOTTY stdin or stdout is no terminal; -EINVAL the terminal's type is not
 * known; -ENOMEM; or the error of poll(2), signalfd(2).
 */
int top_screen_run(struct top_view *view, struct top_flush *flush,
		   const struct top_screen_options *options, struct error *err);

#endif
