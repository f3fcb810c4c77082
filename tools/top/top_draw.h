/* SPDX-License-Identifier: GPL-2.0-only */
/* Drawing dcpitop's screen, on a terminal that curses has been started on. */
#ifndef DCPI_TOP_DRAW_H
#define DCPI_TOP_DRAW_H

#include "tools/top/top_screen.h"

struct screen;

/**
 * struct top_screen - what there is to draw, and what only keys and time look at
 * @cursor:   row
 * @top:      first row that is shown
 * @lines:    the table, a line a row; of the drawing
 * @typing:   a filter
 * @at_worst: the cursor went there by itself
 * @problem:  of the last refresh; its message is "" if there was none
 */
struct top_screen {
	struct top_view *view;
	struct top_flush *flush;
	struct top_screen_options options;
	int signals;
	int64_t next_ns; /* refresh */
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

/** top_draw_colors() - use the terminal's colours, if that is wanted and it has some. */
void top_draw_colors(bool wanted);

/** top_draw_height() - rows of the table that there is room for. */
int top_draw_height(const struct top_screen *screen);

/** top_draw_rows() - rows that the cursor can be on. */
size_t top_draw_rows(const struct top_screen *screen);

/** top_draw() - draw all; moves the cursor to a row that there is. */
void top_draw(struct top_screen *screen);

#endif
