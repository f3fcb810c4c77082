/* SPDX-License-Identifier: GPL-2.0-only */
/* Draws dcpitop's screen, on a terminal that curses has initialised. */
#ifndef DCPI_TOP_DRAW_H
#define DCPI_TOP_DRAW_H

#include "tools/top/top_screen.h"

struct screen;

/**
 * struct top_screen - state of the screen
 * @cursor:   row
 * @top:      first row that is shown
 * @lines:    the table, one line per row; owned by the drawing code
 * @typing:   the user is entering a filter
 * @at_worst: the cursor was moved to the worst stall automatically
 * @problem:  error of the last refresh; its message is "" if there was none
 */
struct top_screen {
	struct top_view *view;
	struct top_flush *flush;
	struct top_screen_options options;
	int signals;
	int64_t next_ns; /* time of the next refresh */
	int64_t refreshes;
	size_t cursor;
	size_t top;
	char *lines;
	size_t line_bytes;
	bool paused;
	bool help;
	bool typing;
	bool done;
	bool at_worst;
	struct error problem;
};

/** top_draw_colors() - use the terminal's colours, if wanted and available */
void top_draw_colors(bool wanted);

/** top_draw_height() - return the number of table rows that fit on the screen */
int top_draw_height(const struct top_screen *screen);

/** top_draw_rows() - return the number of rows on which the cursor can be */
size_t top_draw_rows(const struct top_screen *screen);

/** top_draw() - draw everything; moves the cursor to an existing row */
void top_draw(struct top_screen *screen);

#endif
