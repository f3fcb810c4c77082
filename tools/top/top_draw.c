// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/top_draw.h"

#include <curses.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "lib/cleanup.h"
#include "tools/base/heat.h"
#include "tools/base/text.h"

/* More rows are not formatted, because scrolling that far is not useful. */
#define ROWS_MAX 2000
/* Minimum heights of the screen for help, for headings, and for an explanation. */
#define HELP_HEIGHT 6
#define HEADING_HEIGHT 10
#define EXPLAIN_HEIGHT 18
#define EXPLAIN_LINES 4

enum pair {
	PAIR_HOT = 1,
	PAIR_WARM,
	PAIR_PROBLEM,
};

static const char *const help_lines[] = {
	"q            quit",
	"up down k j  one row; page up, page down, home, end",
	"enter right  open the image or the procedure",
	"esc left     back",
	"i p          list images or procedures of the system",
	"w            go to the worst stall in code",
	"s            sort by the next column",
	"e            next event",
	"t            switch totals: of the epoch, since the start",
	"z            reset totals to start now",
	"/            show only rows with a text; enter: finish, esc: clear",
	"+ -          refresh less often, more often",
	"space        stop refreshing, or continue",
	"r            refresh now",
	"h ?          show this help",
};

#define HELP_LINES ((int)(sizeof(help_lines) / sizeof(*help_lines)))

/* Print as many cells of a line as the screen has; wide characters take two. */
static void put_line(int y, const char *text, chtype attributes)
{
	_cleanup_free_ wchar_t *wide = NULL;
	size_t length = mbstowcs(NULL, text, 0), kept = 0;
	int cells = 0;

	if (y < 0 || y >= LINES || length == (size_t)-1)
		return;
	wide = calloc(length + 1, sizeof(*wide));
	if (wide == NULL)
		return;
	mbstowcs(wide, text, length + 1);
	for (; kept < length; kept++) {
		int width = wcwidth(wide[kept]);

		if (width < 0)
			wide[kept] = L'?';
		cells += width < 0 ? 1 : width;
		if (cells > COLS)
			break;
	}
	attrset((attr_t)attributes);
	mvaddnwstr(y, 0, wide, (int)kept);
	if ((attributes & A_REVERSE) != 0)
		hline(' ' | (chtype)attributes, COLS);
	clrtoeol();
	attrset(A_NORMAL);
}

static int heading_lines(void)
{
	return LINES >= HEADING_HEIGHT ? TOP_HEADING_LINES : 0;
}

static bool explains(const struct top_screen *screen)
{
	return LINES >= EXPLAIN_HEIGHT && screen->view->shown == TOP_CODE &&
	       screen->view->code.explanation != NULL;
}

int top_draw_height(const struct top_screen *screen)
{
	int height = LINES - heading_lines() - 1;

	if (LINES >= HELP_HEIGHT)
		height--;
	if (explains(screen))
		height -= EXPLAIN_LINES;
	return height > 0 ? height : 0;
}

/* Format the table as text, one line per row, headings first. */
static int format(struct top_screen *screen)
{
	struct columns_table table = screen->view->table;
	FILE *stream;
	int r;

	free(screen->lines);
	screen->lines = NULL;
	if (table.row_count > ROWS_MAX)
		table.row_count = ROWS_MAX;
	stream = open_memstream(&screen->lines, &screen->line_bytes);
	if (stream == NULL)
		return -ENOMEM;
	r = columns_text(stream, &table, COLS > 0 ? (size_t)COLS : 1, false);
	return fclose(stream) == 0 ? r : -ENOMEM;
}

size_t top_draw_rows(const struct top_screen *screen)
{
	size_t rows = screen->view->table.row_count;

	return rows < ROWS_MAX ? rows : ROWS_MAX;
}

static void keep_cursor(struct top_screen *screen)
{
	size_t rows = top_draw_rows(screen), height = (size_t)top_draw_height(screen);

	if (screen->cursor >= rows)
		screen->cursor = rows > 0 ? rows - 1 : 0;
	if (screen->cursor < screen->top)
		screen->top = screen->cursor;
	if (height > 0 && screen->cursor >= screen->top + height)
		screen->top = screen->cursor - height + 1;
	if (screen->top > 0 && screen->top + height > rows)
		screen->top = rows > height ? rows - height : 0;
}

static chtype row_attributes(const struct top_screen *screen, size_t row)
{
	double share = top_view_share(screen->view, row);
	chtype attributes = A_NORMAL;

	if (share >= HEAT_HOT)
		attributes = A_BOLD | (chtype)COLOR_PAIR(PAIR_HOT);
	else if (share >= HEAT_WARM)
		attributes = (chtype)COLOR_PAIR(PAIR_WARM);
	return row == screen->cursor ? attributes | A_REVERSE : attributes;
}

static void draw_table(struct top_screen *screen, int y)
{
	size_t height = (size_t)top_draw_height(screen), number = 0;
	char *line = screen->lines, *end;

	for (; line != NULL && (end = strchr(line, '\n')) != NULL; line = end + 1, number++) {
		*end = '\0';
		if (number == 0)
			put_line(y, line, A_BOLD | A_UNDERLINE);
		else if (number - 1 >= screen->top && number - 1 < screen->top + height)
			put_line(y + (int)(number - screen->top), line,
				 row_attributes(screen, number - 1));
		*end = '\n';
	}
}

/* Draw dcpicalc's description of the worst stall, above the last line. */
static void draw_explanation(const struct top_screen *screen)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);
	char *line, *end;
	int y = LINES - 1 - EXPLAIN_LINES;

	if (stream == NULL)
		return;
	text_wrap(stream, screen->view->code.explanation, (size_t)COLS, 0, 0);
	if (fclose(stream) != 0)
		return;
	for (line = text; y < LINES - 1 && (end = strchr(line, '\n')) != NULL;
	     line = end + 1, y++) {
		*end = '\0';
		put_line(y, line, A_DIM);
	}
}

static void draw_headings(struct top_screen *screen)
{
	char text[TOP_HEADING_BYTES];
	size_t length;

	for (unsigned int i = 0; i < (unsigned int)heading_lines(); i++) {
		top_view_heading(screen->view, i, text);
		length = strlen(text);
		if (i == 0)
			snprintf(text + length, sizeof(text) - length, "; every %.3g s%s",
				 (double)screen->options.interval_ns / 1e9,
				 screen->paused ? ", STOPPED" : "");
		put_line((int)i, text, i == 0 ? A_BOLD : A_NORMAL);
	}
}

static void draw_last_line(struct top_screen *screen)
{
	char text[TOP_FILTER_BYTES + 32];

	if (LINES < HELP_HEIGHT && !screen->typing)
		return;
	if (screen->typing) {
		snprintf(text, sizeof(text), "show only rows with: %s_", screen->view->filter);
		put_line(LINES - 1, text, A_BOLD);
	} else if (screen->problem.message[0] != '\0') {
		put_line(LINES - 1, screen->problem.message, A_BOLD | COLOR_PAIR(PAIR_PROBLEM));
	} else if (screen->flush->problem.message[0] != '\0') {
		char note[ERROR_MESSAGE_BYTES + 48];

		snprintf(note, sizeof(note), "h help  updated only by merges of the daemon: %s",
			 screen->flush->problem.message);
		put_line(LINES - 1, note, (chtype)COLOR_PAIR(PAIR_PROBLEM));
	} else {
		put_line(LINES - 1,
			 "q quit  enter open  esc back  s sort  e event  t total  / filter  h help",
			 A_DIM);
	}
}

void top_draw(struct top_screen *screen)
{
	erase();
	if (screen->help) {
		for (int i = 0; i < HELP_LINES; i++)
			put_line(i, help_lines[i], A_NORMAL);
	} else if (format(screen) == 0) {
		keep_cursor(screen);
		draw_headings(screen);
		draw_table(screen, heading_lines());
		if (explains(screen))
			draw_explanation(screen);
		draw_last_line(screen);
	}
	refresh();
}

void top_draw_colors(bool wanted)
{
	if (!wanted || !has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(PAIR_HOT, COLOR_RED, -1);
	init_pair(PAIR_WARM, COLOR_YELLOW, -1);
	init_pair(PAIR_PROBLEM, COLOR_MAGENTA, -1);
}
